// The state of all batches under way: which ticket is drawn next, which wait for a worker, which batch is complete, who
// has memory. It starts no threads and takes no locks: the engine calls it under its own.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/format/dataset.h"
#include "stoker/order/epoch_order.h"
#include "stoker/runtime/bad_slot_policy.h"
#include "stoker/runtime/engine/encoded_arena.h"
#include "stoker/runtime/engine/ticket.h"
#include "stoker/runtime/report/quarantine.h"
#include "stoker/runtime/share/sample_cache.h"

namespace stoker {

struct BoardOptions {
  OrderOptions order;
  RankSlice slice;
  std::vector<OutputSpec> outputs;
  DeviceSide device{};
  int transfer_index = kTransferIndexMax;
  std::vector<std::string> fields;      // of a sample that are read: Plan::fields()
  std::vector<bool> planar;             // by field: entry points make decoding it faster
  RawWindows raw_windows;               // what of images stored raw is read
  int prefetch = 2;                     // batches made ahead of the consumer
  LoaderBatchBytes batch_memory_max{};  // that batches may take together
  std::size_t read_ahead_bytes = 0;     // size of the arena
  std::size_t near_bytes = 0;           // of those, what is read at once: the rest waits for neighbours to be drawn
  std::int64_t tickets_ahead = 0;       // drawn ahead of the consumer, where that is more than prefetch makes it
  std::int64_t epochs_end = INT64_MAX;  // nothing is drawn of this epoch and later ones
  std::uint64_t sample_bytes_max = std::uint64_t{1} << 30;
  // Names the loader's budget in which so large a sample can be had, for errors: "413MB".
  std::function<std::string(std::uint64_t bytes)> enough_memory{};
  BadSlotPolicy bad_sample = BadSlotPolicy::kSubstitute;
  bool has_steps = false;  // written batches go through steps (BatchStep) before they are popped
  std::shared_ptr<const Quarantine> quarantine{};  // samples that are known to be bad, if any
  std::size_t reserve_bytes = 0;                   // of the arena for samples that stand in for bad ones
  std::shared_ptr<SampleCache> cache{};            // of encoded samples, if any
};

/// Memory for a batch, which was chosen and is to be made ready.
struct BatchGrant {
  BatchWork* work = nullptr;
  std::unique_ptr<LoaderBatch> batch;  // null: it is to be made
  int transfer_index = kTransferIndexMax;
  std::exception_ptr error;  // why it could not be made ready
};

class TicketBoard {
 public:
  TicketBoard(const Dataset& dataset, BoardOptions options, Allocator& allocator);

  // --- the reader

  // A ticket is drawn, located, granted its bytes, and read. All but locate() need the lock.

  /// The next ticket, in order; null while there is none. May allocate memory, and throw.
  Ticket* draw();
  /// Finds out where its sample lies and what it will read; what is wrong with that stands in its error. Looks at
  /// nothing of the board that changes, and may wait for an index to be read.
  void locate(Ticket& ticket) const;
  /// Grants the bytes of what it will read, and says in its reads what goes where. To be called in the order of
  /// drawing; false while there is no room. If it has reads pending they are now to be made; otherwise hand it to
  /// read_done() at once.
  bool grant(Ticket& ticket);
  /// A ticket whose read failed and is to be made again by itself, its bytes granted still; null without one whose
  /// time has come. The first call after the read failed sets that time (read_again_delay_ns()).
  Ticket* again(std::int64_t now_ns);
  /// When the first of those that again() looked at and did not give out may be read; nothing without any.
  std::optional<std::int64_t> next_again_ns() const;
  /// A ticket whose sample was bad, and now is another: to be located, granted and read; null without one.
  Ticket* substitute();
  /// Whether there is one of either that was not looked at, or room for a substitute that there was none for: a
  /// batch waits for them.
  bool has_again() const;
  /// Whether draw(), grant() or again() might go on, as far as can be seen without work. Never throws, as all that
  /// follows.
  bool may_go_on() const;
  /// Whether grant() had no room for a ticket.
  bool refuses() const { return refused_ || refused_substitute_; }
  /// The ticket's last read has ended: it waits for a worker now, or to be read again.
  void read_done(Ticket& ticket);

  // --- workers

  /// Up to `tickets.size()` tickets that can be worked on, the oldest batch first; returns how many.
  std::size_t take(std::span<Ticket*> tickets);
  std::size_t ready_count() const { return ready_count_; }
  /// Of those, how many belong to batches that have no memory yet.
  std::size_t parked_count() const { return parked_count_; }
  /// And those that take() would give.
  std::size_t workable_count() const { return ready_count_ - parked_count_; }
  /// Chooses memory for the first batch that has none, as far as prefetch reaches and the budget allows; false where
  /// there is no such batch, no memory, or another one's is being made ready. It is then for prepare(), and granted().
  bool take_grant(BatchGrant& grant);
  /// Whether there is such a batch, and memory.
  bool may_grant() const;
  /// Makes the memory ready: this may wait for a device and for the consumer's streams, and allocate. Needs no lock.
  void prepare(BatchGrant& grant) const noexcept;
  /// That was done, or failed. What is left in the grant then is to be destroyed without the lock.
  void granted(BatchGrant& grant) noexcept;
  /// Whether there is anything for a worker to do: for nothing else it is woken.
  bool has_work() const { return workable_count() > 0 || has_written() || may_grant(); }
  /// Keeps what was read for a ticket whose sample is good, if there is a cache with room for it. Needs no lock.
  void keep_in_cache(const Ticket& ticket) const;
  /// The ticket's slot is written (or its error stands in it). Whether that was its batch's last one: not if its sample
  /// was bad and another is to be tried.
  bool finish(Ticket& ticket);
  /// The written batch that is to go through its steps (BatchStep), in order and one at a time: null while another is
  /// in its steps, or the next batch is not written.
  BatchWork* take_written();
  /// Whether there is one.
  bool has_written() const { return next_written() != works_.end(); }
  /// The batch that was taken has gone through its steps, or one of them failed.
  void steps_done(BatchWork& work, std::exception_ptr error);

  // --- the consumer

  /// From here on batches of `epoch` come first, beginning with `batch`; what was drawn of others is thrown away.
  void start_epoch(std::int64_t epoch, std::int64_t batch = 0);
  bool front_sealed() const { return !works_.empty() && works_.front()->sealed(); }
  /// Batches that could be popped, one after the other but for those before them.
  int sealed_count() const { return sealed_count_; }
  /// The next batch has no memory, and there is none to be chosen for it.
  bool front_lacks_memory() const {
    return !works_.empty() && !works_.front()->batch && !works_.front()->granting && !may_grant();
  }
  /// The next batch cannot be made: the consumer holds all the memory there is for batches, or the machine has none.
  bool starved() const { return front_lacks_memory() && held_ == batches_ && (held_ > 0 || allocation_error_); }
  /// Why the machine refused memory for a batch, if it did.
  std::exception_ptr allocation_error() const { return allocation_error_; }
  /// Removes the sealed front; throws its error if it has one. The batch counts as held until release(). `bad` becomes
  /// what was found to be bad for it, in the order of its slots.
  std::unique_ptr<LoaderBatch> pop(std::vector<BadSlot>& bad);
  void release(std::unique_ptr<LoaderBatch> batch);
  /// Memory that a smaller prefetch, or a consumer that no longer hoards, leaves over, a batch at a time: to be given
  /// back without the lock, since that may wait as prepare() does. Null if there is none.
  std::unique_ptr<LoaderBatch> take_surplus();
  /// One that is held or was released is settled from now on.
  void settled(LoaderBatch& batch);

  // --- knobs and gauges

  void set_prefetch(int prefetch);
  int prefetch() const { return options_.prefetch; }
  /// Of batches that get their memory from now on.
  void set_transfer_index(int index) { options_.transfer_index = index; }
  int transfer_index() const { return options_.transfer_index; }
  const OrderOptions& order() const { return options_.order; }
  /// Batches of an epoch, of all ranks and of this one, which has no slots of the last one if the tail is kept and all
  /// of that is others'.
  std::int64_t global_batches() const { return global_batches_; }
  std::int64_t batches_per_epoch() const { return batches_per_epoch_; }
  int held() const { return held_; }
  const LoaderBatchBytes& batch_bytes() const { return batch_bytes_; }
  LoaderBatchBytes batch_memory() const {
    const auto count = static_cast<std::size_t>(batches_);
    return {count * batch_bytes_.host, count * batch_bytes_.device};
  }
  const LoaderBatchBytes& batch_memory_max() const { return options_.batch_memory_max; }
  /// Slots of batches that were finished, ever.
  std::int64_t slots_made() const { return slots_made_; }
  const DeviceSide& device() const { return options_.device; }
  /// So much of the memory for batches is somebody else's until it is returned, if no batch needs it now.
  bool lend(const LoaderBatchBytes& bytes);
  void return_lent(const LoaderBatchBytes& bytes);
  std::size_t read_ahead_used() const { return arena_.used(); }
  std::size_t read_ahead_max() const { return arena_.capacity(); }
  std::size_t near_bytes() const { return options_.near_bytes; }
  /// Samples whose place in the arena is before this are wanted soon. Never goes back.
  std::uint64_t near_end() const { return arena_.front() + options_.near_bytes; }

 private:
  std::deque<std::unique_ptr<BatchWork>>::const_iterator next_written() const;
  bool all_drawn() const;  // of the works there are
  bool may_open_work() const;
  bool open_next_work();
  void add_field(Ticket& ticket, std::size_t number) const;
  void leave_out_unwanted(Ticket& ticket) const;
  void add_entry_points(Ticket& ticket) const;
  bool find_in_cache(Ticket& ticket) const;
  void request_reads(Ticket& ticket);
  void give_back(Ticket& ticket);
  bool stands_aside(Ticket& ticket);
  BatchWork* next_without_memory() const;
  bool has_free_batch() const;
  bool may_make_batch() const;
  std::unique_ptr<LoaderBatch> take_free_batch();
  void discard(std::unique_ptr<BatchWork> work);
  void recycle_discarded();
  std::unique_ptr<BatchWork> fresh_work();

  const Dataset& dataset_;
  BoardOptions options_;
  Allocator& allocator_;
  LoaderBatchBytes batch_bytes_;  // of one
  // The same in every epoch.
  std::int64_t global_batches_, batches_per_epoch_;
  EncodedArena arena_;
  std::optional<EncodedArena> reserve_;  // once there was need of it

  // Where drawing stands.
  std::optional<EpochOrder> order_;
  std::int64_t draw_epoch_ = 0;
  std::int64_t draw_index_ = 0;  // of the next work to open
  bool started_ = false;
  Ticket* refused_ = nullptr;             // the one that there was no room for
  Ticket* refused_substitute_ = nullptr;  // likewise, in the reserve

  std::vector<Ticket*> again_;        // to be read again
  std::vector<Ticket*> substitutes_;  // to be located

  std::deque<std::unique_ptr<BatchWork>> works_;       // undelivered, in order; the newest may still be drawn from
  std::vector<std::unique_ptr<BatchWork>> discarded_;  // still in somebody's hands
  std::vector<std::unique_ptr<BatchWork>> spare_works_;
  std::size_t works_made_ = 0;
  std::vector<std::unique_ptr<LoaderBatch>> free_batches_;
  int batches_ = 0;  // alive: with works, free or held
  int held_ = 0;     // by the consumer
  std::size_t ready_count_ = 0, parked_count_ = 0;
  int sealed_count_ = 0;
  std::int64_t slots_made_ = 0;
  std::exception_ptr allocation_error_;
};

/// How long to wait before a read is made again that has failed so many times: what failed may need a moment, and
/// others that need it must not wait behind reads that only fail.
std::int64_t read_again_delay_ns(int attempts);

}  // namespace stoker
