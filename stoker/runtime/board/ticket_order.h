// Which samples a rank's tickets are for: batch after batch, epoch after epoch, from wherever the consumer begins; or
// of the batches that are requested. No threads and no locks: the engine calls it under its own.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "stoker/order/epoch_order.h"
#include "stoker/runtime/board/ticket.h"

namespace stoker {

class TicketOrder {
 public:
  /// There is nothing of `epochs_end` and later epochs.
  TicketOrder(OrderOptions options, RankSlice slice, std::int64_t epochs_end);

  const OrderOptions& options() const { return options_; }
  const RankSlice& slice() const { return slice_; }
  /// Slots of a batch.
  int batch() const { return slice_.batch; }
  /// Batches of an epoch, of all ranks and of this one, which has no slots of the last one if the tail is kept and all
  /// of that is others'.
  std::int64_t global_batches() const { return global_batches_; }
  std::int64_t batches_per_epoch() const { return batches_per_epoch_; }

  /// From here on come batches of this epoch, from this one on, and of the epochs after it.
  void start(std::int64_t epoch, std::int64_t batch);
  /// From here on come the batches that are requested, in the order of the requests.
  void start_requests();
  bool on_request() const { return on_request_; }
  /// A batch of this rank, of an epoch before `epochs_end`.
  void request(std::int64_t epoch, std::int64_t batch) { requests_.push_back({epoch, batch}); }
  /// Whether there is another batch. There is none before start(). May allocate memory, and throw.
  bool has_next();
  /// The same as far as can be seen without work: if so there is none.
  bool at_end() const { return on_request_ ? requests_.empty() : epoch_ >= epochs_end_; }
  /// The work becomes that batch.
  void next(BatchWork& work);
  /// The work's next ticket becomes that of its slot: the batch was the last that next() gave.
  Ticket& draw(BatchWork& work) const;

 private:
  struct Request {
    std::int64_t epoch, batch;
  };

  void begin(std::int64_t epoch, std::int64_t batch);

  const OrderOptions options_;
  const RankSlice slice_;
  const std::int64_t epochs_end_;
  std::int64_t global_batches_, batches_per_epoch_;  // the same in every epoch

  std::optional<EpochOrder> order_;  // of the epoch, once it was needed
  std::int64_t epoch_, index_ = 0;   // of the next batch
  std::int64_t begin_ = 0;           // the epoch's batch from which on it is read
  bool on_request_ = false;
  std::deque<Request> requests_;
};

}  // namespace stoker
