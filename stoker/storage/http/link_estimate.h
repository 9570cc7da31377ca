// What a request costs on the way to a server, as measured: from it follow how large a gap is worth reading, and when a
// request is so late that another is worth sending.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "stoker/storage/latency_histogram.h"

namespace stoker {

/// Threads: one adds; any may ask for the gap.
class LinkEstimate {
 public:
  static constexpr std::uint64_t kGapFirst = 256 << 10;  // before anything was measured
  // Many requests share the link: what is read in vain takes their room, however fast one connection is.
  static constexpr std::uint64_t kGapLeast = 16 << 10, kGapMost = 256 << 10;

  /// An answer whose first byte came after `first_byte_ns`, and whose body of `bytes` took another `body_ns`.
  void add(std::int64_t first_byte_ns, std::uint64_t bytes, std::int64_t body_ns);

  /// What one connection carries in the time that an answer takes to begin.
  std::uint64_t gap_worth_reading() const { return gap_.load(std::memory_order_relaxed); }
  /// When a request is later than all but one in a hundred. Nothing until that can be told.
  std::optional<std::int64_t> late_after_ns() const;

 private:
  LatencyHistogram first_bytes_;
  double latency_ns_ = 0, ns_per_byte_ = 0;  // exponentially weighted means; 0: none yet
  std::int64_t late_ns_ = 0;
  std::atomic<std::uint64_t> gap_ = kGapFirst;
};

}  // namespace stoker
