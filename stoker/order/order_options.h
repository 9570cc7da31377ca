// The kind of an epoch's order and its settings, equal on every rank. Threads: a value; many may read it, one may
// change it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace stoker {

enum class OrderKind : std::uint8_t {
  kGlobal,    // the whole data set, shuffled
  kWindowed,  // shards shuffled, their samples within a window only: windowed_order.h
  kNone,      // the data set's own order
};
enum class Tail : std::uint8_t {
  kDrop,  // an incomplete last global batch is left out
  kWrap,  // it is filled with samples from the epoch's beginning
  kPad,   // it is filled with padding, so that every sample counts exactly once
  kKeep,  // it stays shorter, and every sample counts exactly once
};

/// Whether nothing follows an epoch's last sample.
constexpr bool counts_each_once(Tail tail) { return tail == Tail::kPad || tail == Tail::kKeep; }

std::string_view to_string(OrderKind kind);
OrderKind parse_order(std::string_view name);  // throws kUsage
std::string_view to_string(Tail tail);
Tail parse_tail(std::string_view name);  // throws kUsage

/// A data set in a mixture: its samples follow those of the parts before it.
struct OrderPart {
  std::int64_t samples = 0;
  std::int64_t weight = 0;
};

struct OrderOptions {
  std::int64_t samples = 0;
  std::int64_t global_batch = 1;  // rank * batch of all ranks
  OrderKind kind = OrderKind::kGlobal;
  Tail tail = Tail::kDrop;
  std::uint64_t seed = 0;
  std::int64_t repeats = 1;          // how often each sample comes in an epoch, at consecutive positions
  std::int64_t batch_repeats = 1;    // how often each sample of a global batch stands in it; an epoch grows no longer
  std::vector<OrderPart> mixture{};  // of the global order only; empty: all samples count alike

  // Of the windowed order only.
  std::int64_t window = 1024;  // samples
  int lanes = 8;
  /// How many samples each shard has, in the order of the data set; shared, since options are copied.
  std::shared_ptr<const std::vector<std::int64_t>> shard_samples{};

  /// Slots of a global batch, less those that hold a sample of another one once more.
  std::int64_t different_slots() const { return global_batch / batch_repeats; }
};

/// Throws kUsage, with a setting that would work, for a mixture in another order than the global one; repeats below 1;
/// batch repeats that do not divide the global batch, or with a tail that counts each sample once; and a windowed order
/// without lanes or window, or whose lanes do not divide among the batch's slots and the world's ranks. The global
/// batch is a multiple of the world.
void check_order(const OrderOptions& options, int world);

}  // namespace stoker
