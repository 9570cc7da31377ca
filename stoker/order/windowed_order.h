// The windowed order, for storage that dislikes random reads. An epoch's shards are shuffled and laid end to end,
// beginning at a random sample; this sequence is cut into lanes that are read side by side, and each lane's samples are
// shuffled within windows. So at any time only one window per lane is being read, a stretch of one shard or of a few
// consecutive ones.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/order/order_options.h"

namespace stoker {

/// A function of (seed, epoch, position) that needs the sizes of the shards, and memory for them alone. Each global
/// batch has equally many slots of every lane, one lane after another; so if the number of ranks divides the number of
/// lanes, each rank reads separate lanes. Threads: any.
class WindowedOrder {
 public:
  /// `options` as check_order() permits them, with at least one sample.
  WindowedOrder(const OrderOptions& options, std::int64_t epoch);

  /// The sample at a position, or nullopt if there is none.
  std::optional<std::int64_t> sample_at(std::int64_t position) const;
  /// Whether the position's window also holds positions before the global batch, or is the first of its lane.
  bool window_began_by(std::int64_t position, std::int64_t batch) const;

 private:
  struct Lane {
    std::int64_t number, begin, size;
  };

  struct Window {
    std::int64_t number, begin;  // in its lane
  };

  Lane lane_at(std::int64_t number) const;
  Window window_of(const Lane& lane, std::int64_t index) const;
  std::int64_t shuffled(const Lane& lane, std::int64_t index) const;
  std::int64_t sample_of(std::int64_t place) const;

  std::int64_t samples_;
  std::int64_t global_batch_;
  std::int64_t lane_slots_;  // of a global batch
  Tail tail_;
  std::int64_t lane_size_;     // of most lanes;
  std::int64_t longer_lanes_;  // the first ones have a sample more
  std::int64_t window_;
  std::int64_t stagger_;  // samples by which a lane's windows end before those of the lane before it
  std::int64_t rotation_ = 0;
  std::array<std::uint32_t, 2> window_key_{};
  // By the shard's turn in the epoch.
  std::vector<std::int64_t> shard_begin_;  // where it begins when all are laid end to end
  std::vector<std::int64_t> shard_first_;  // its first sample's number in the data set
};

}  // namespace stoker
