// Which sample stands where in an epoch, and which of the epoch's positions are whose: pure functions, known
// arbitrarily far ahead, equal on every rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stoker/order/permutation.h"

namespace stoker {

enum class OrderKind : std::uint8_t { kGlobal, kNone };
enum class Tail : std::uint8_t {
  kDrop,  // an incomplete last global batch is left out
  kWrap,  // it is filled with samples from the epoch's beginning
  kPad,   // it is filled with padding, so that every sample counts exactly once
};

std::string_view to_string(OrderKind kind);
OrderKind parse_order(std::string_view name);  // throws kUsage
std::string_view to_string(Tail tail);
Tail parse_tail(std::string_view name);  // throws kUsage

struct OrderOptions {
  std::int64_t samples = 0;
  std::int64_t global_batch = 1;  // rank * batch of all ranks
  OrderKind kind = OrderKind::kGlobal;
  Tail tail = Tail::kDrop;
  std::uint64_t seed = 0;
};

/// Positions of an epoch run 0, 1, ...; global batch g holds positions g * global_batch up to the next one's.
class EpochOrder {
 public:
  EpochOrder(const OrderOptions& options, std::int64_t epoch);

  /// Batches of the epoch, the same on every rank.
  std::int64_t batches() const { return batches_; }

  /// The sample at a position, or nullopt for padding.
  std::optional<std::int64_t> sample_at(std::int64_t position) const;

 private:
  std::int64_t samples_;
  std::int64_t batches_;
  Tail tail_;
  std::optional<Permutation> permutation_;
};

/// One rank's share of every global batch.
struct RankSlice {
  int rank = 0, world = 1;
  int batch = 1;  // slots per rank

  std::int64_t global_batch() const { return std::int64_t{batch} * world; }
  std::int64_t position(std::int64_t batch_index, int slot) const {
    return batch_index * global_batch() + std::int64_t{rank} * batch + slot;
  }
};

}  // namespace stoker
