// All batches under way: whose tickets are to be drawn, which tickets wait for a worker, which batch is complete. It
// starts no threads and takes no locks: the engine calls it under its own.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "stoker/runtime/bad_slot_policy.h"
#include "stoker/runtime/board/batch_pool.h"
#include "stoker/runtime/board/read_ahead.h"
#include "stoker/runtime/board/sample_locator.h"
#include "stoker/runtime/board/ticket.h"
#include "stoker/runtime/board/ticket_order.h"

namespace stoker {

struct TicketBoardOptions {
  int prefetch = 2;                // batches made ahead of the consumer
  std::int64_t tickets_ahead = 0;  // drawn ahead of the consumer, where that is more than prefetch makes it
  BadSlotPolicy bad_sample = BadSlotPolicy::kSubstitute;
  int mix_block = 0;       // slots whose samples are mixed when all of them are written; 0: none are mixed
  bool has_calls = false;  // functions are called for batches whose slots are all written
  bool has_steps = false;  // written batches go through steps (BatchStep) before they are popped
};

/// What the next batch waits for.
enum class BatchNeed : std::uint8_t { kReads, kWorkers };

/// What a worker that has written a slot is to do next for its batch.
struct BatchTask {
  enum class Kind : std::uint8_t {
    kMix,   // these slots are all written, and their samples are to be mixed
    kCall,  // functions of whole batches are to be called
  };
  Kind kind = Kind::kMix;
  BatchWork* work = nullptr;  // null: there is nothing to do
  int first = 0, count = 0;
};

/// A ticket is drawn here, located by the locator, granted its bytes by the read-ahead, and read. They outlive the
/// board.
class TicketBoard {
 public:
  TicketBoard(const TicketBoardOptions& options, const SampleLocator& locator, TicketOrder& order,
              ReadAhead& read_ahead, BatchPool& batches)
      : options_(options), locator_(locator), order_(order), read_ahead_(read_ahead), batches_(batches) {}

  // --- the reader

  /// The next ticket, in order; null while there is none. May allocate memory, and throw.
  Ticket* draw();
  /// Whether there is more to draw, to grant or to read again, as far as can be seen without work. Never throws, as all
  /// that follows.
  bool may_go_on() const;
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
  /// there is no such batch, no memory, or another one's is being made ready. It is then for BatchPool::prepare(), and
  /// granted().
  bool take_grant(BatchGrant& grant);
  /// Whether there is such a batch, and memory.
  bool may_grant() const { return next_without_memory() && batches_.available(); }
  /// That was done, or failed. What is left in the grant then is to be destroyed without the lock.
  void granted(BatchGrant& grant) noexcept;
  /// Whether there is anything for a worker to do: for nothing else it is woken.
  bool has_work() const { return workable_count() > 0 || has_written() || may_grant(); }
  /// The ticket's slot is written (or its error stands in it). Whether that was its batch's last one: not if its sample
  /// was bad and another is to be tried, and not if there is a task for the batch; then it is not complete before
  /// done().
  bool finish(Ticket& ticket, BatchTask* task = nullptr);
  /// The task was done, or failed; in its place comes the next one. Whether the batch is complete.
  bool done(BatchTask& task, std::exception_ptr error = nullptr);
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
  /// From here on come the batches that TicketOrder::request() names; what was drawn is thrown away.
  void start_requests();
  bool front_sealed() const { return !works_.empty() && works_.front()->sealed(); }
  /// Batches that could be popped, one after the other but for those before them.
  int sealed_count() const { return sealed_count_; }
  /// As far as it is not sealed: reads, if samples of it are being read and workers have nothing to do until then.
  BatchNeed front_needs() const;
  /// The next batch has no memory, and there is none to be chosen for it.
  bool front_lacks_memory() const {
    return !works_.empty() && !works_.front()->batch && !works_.front()->granting && !may_grant();
  }
  /// The next batch cannot be made: the consumer holds all the memory there is for batches, or the machine has none.
  bool starved() const { return front_lacks_memory() && batches_.exhausted(); }
  /// Removes the sealed front; throws its error if it has one. The batch counts as held until BatchPool::release().
  /// `bad` becomes what was found to be bad for it, in the order of its slots.
  std::unique_ptr<LoaderBatch> pop(std::vector<BadSlot>& bad);

  // --- knobs and gauges

  void set_prefetch(int prefetch);
  int prefetch() const { return options_.prefetch; }
  /// Batches that prefetch reaches, and that no memory was chosen for yet.
  int lacking() const;
  /// Slots of batches that were finished, ever.
  std::int64_t slots_made() const { return slots_made_; }

 private:
  std::deque<std::unique_ptr<BatchWork>>::const_iterator next_written() const;
  bool all_drawn() const;  // of the works there are
  bool may_open_work() const;
  bool open_next_work();
  std::unique_ptr<BatchWork> fresh_work();
  BatchWork* next_without_memory() const;
  bool stands_aside(Ticket& ticket);
  BatchTask block_written(BatchWork& work, int slot) const;
  bool complete(BatchWork& work, BatchTask* task);
  void discard_all();
  void discard(std::unique_ptr<BatchWork> work);
  void recycle_discarded();

  TicketBoardOptions options_;
  const SampleLocator& locator_;
  TicketOrder& order_;
  ReadAhead& read_ahead_;
  BatchPool& batches_;

  std::deque<std::unique_ptr<BatchWork>> works_;       // undelivered, in order; the newest may still be drawn from
  std::vector<std::unique_ptr<BatchWork>> discarded_;  // still in use by a thread
  std::vector<std::unique_ptr<BatchWork>> spare_works_;
  std::size_t works_made_ = 0;
  std::size_t ready_count_ = 0, parked_count_ = 0;
  int sealed_count_ = 0;
  std::int64_t slots_made_ = 0;
};

}  // namespace stoker
