// The sample at each position of an epoch, and the rank of each position: pure functions, which can be computed any
// distance ahead and are equal on every rank.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/order/mixed_order.h"
#include "stoker/order/order_options.h"
#include "stoker/order/permutation.h"
#include "stoker/order/windowed_order.h"

namespace stoker {

/// One rank's share of every global batch.
struct RankSlice {
  int rank = 0, world = 1;
  int batch = 1;  // slots per rank

  std::int64_t global_batch() const { return std::int64_t{batch} * world; }
  std::int64_t position(std::int64_t batch_index, int slot) const {
    return batch_index * global_batch() + std::int64_t{rank} * batch + slot;
  }
};

/// Positions of an epoch run 0, 1, ...; global batch g holds positions g * global_batch up to the next one's. With
/// batch repeats, slot i of a global batch has the sample of slot i % OrderOptions::different_slots(): so the copies of
/// a sample are as far apart as possible, and on different ranks if there are enough.
class EpochOrder {
 public:
  EpochOrder(const OrderOptions& options, std::int64_t epoch);

  /// Batches of the epoch, the same on every rank.
  std::int64_t batches() const { return batches_; }

  /// The number of batches that have slots of a rank: all, or all but the last if the tail is kept.
  std::int64_t batches_of(const RankSlice& slice) const;
  /// The number of slots of a rank's batch: fewer than in other batches only in the last one, if the tail is kept.
  int slots_of(const RankSlice& slice, std::int64_t batch_index) const;

  /// The sample at a position, or nullopt if there is none; a slot for such a position is padding.
  std::optional<std::int64_t> sample_at(std::int64_t position) const;
  /// Of the windowed order: whether the position's window began before the batch, or is the first of its lane.
  bool window_began_by(std::int64_t position, std::int64_t batch) const;

 private:
  std::int64_t draw_of(std::int64_t position) const;

  std::int64_t samples_;
  std::int64_t repeats_;
  std::int64_t global_batch_, different_slots_;
  std::int64_t batches_;
  Tail tail_;
  std::optional<Permutation> permutation_;
  std::optional<WindowedOrder> windowed_;
  std::optional<MixedOrder> mixed_;
  std::int64_t first_draw_ = 0;  // of the mixture, in this epoch
};

}  // namespace stoker
