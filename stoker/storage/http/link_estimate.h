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
  // Requests side by side share the link, and hide each other's latency: a byte that is read in vain takes the room of
  // another, however fast one connection is. Photographs in random order came at 184 MB/s with this, and at 172 with
  // 32 KiB, over a link of 200 (docs/measurements/remote.md).
  static constexpr std::uint64_t kGapSideBySide = 8 << 10;
  static constexpr std::uint64_t kGapLeast = 16 << 10, kGapMost = 4 << 20;
  static constexpr std::uint64_t kGapFirst = 256 << 10;  // before anything was measured

  /// An answer whose first byte came after `first_byte_ns`, and whose body of `bytes` took another `body_ns`.
  void add(std::int64_t first_byte_ns, std::uint64_t bytes, std::int64_t body_ns);

  /// What one connection carries in the time that an answer takes to begin: a gap that a reader passes in time if it
  /// can ask for what follows only afterwards.
  std::uint64_t gap_in_turn() const { return gap_.load(std::memory_order_relaxed); }
  /// How many requests it takes at a time to get 10,000 answers a second, more than a thread takes in: the time that
  /// the quickest of the latest answers took, without what they wait for each other on a busy link.
  int worth_at_once() const;
  /// When a request is later than all but one in a hundred. Nothing until that can be told.
  std::optional<std::int64_t> late_after_ns() const;

 private:
  LatencyHistogram first_bytes_;
  double latency_ns_ = 0, ns_per_byte_ = 0;  // exponentially weighted means; 0: none yet
  double least_latency_ns_ = 0;              // rises slowly, so that another way to the server is noticed
  std::int64_t late_ns_ = 0;
  std::atomic<std::uint64_t> gap_ = kGapFirst;
};

}  // namespace stoker
