// One setting of the knobs of a loader, which the tuner turns. Threads: a value; many may read it, one may change it.
#pragma once

#include <optional>

namespace stoker {

struct KnobSetting {
  int threads = 1;         // workers
  int transfer_index = 0;  // stages on the CPU
  int prefetch = 1;        // batches made ahead
  int io_depth = 1;        // reads under way at once

  friend bool operator==(const KnobSetting&, const KnobSetting&) = default;
};

/// Some of them.
struct Knobs {
  std::optional<int> threads{};
  std::optional<int> prefetch{};
  std::optional<int> transfer_index{};
  std::optional<int> io_depth{};

  bool all() const { return threads && prefetch && transfer_index && io_depth; }
  /// Replaces these by those of `others` that are set.
  void take(const Knobs& others) {
    if (others.threads) threads = others.threads;
    if (others.prefetch) prefetch = others.prefetch;
    if (others.transfer_index) transfer_index = others.transfer_index;
    if (others.io_depth) io_depth = others.io_depth;
  }
};

}  // namespace stoker
