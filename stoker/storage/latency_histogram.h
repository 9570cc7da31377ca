// How long servers took to answer, as counts by time: enough to tell any percentile within a twentieth.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stoker {

struct LatencyHistogram {
  static constexpr int kPerDoubling = 16;
  static constexpr std::int64_t kLeastNs = 50'000;  // below are answers of the same machine
  static constexpr std::size_t kBuckets = 352;      // up to 200 s

  std::array<std::int64_t, kBuckets> counts{};

  static std::size_t bucket_of(std::int64_t ns);
  /// Where the bucket ends.
  static std::int64_t end_of_ns(std::size_t bucket);

  void add(std::int64_t ns) { ++counts[bucket_of(ns)]; }
  std::int64_t total() const;
  /// What the share `part` of the times does not exceed, as if those of a bucket were spread evenly; 0 without any.
  std::int64_t quantile_ns(double part) const;
};

}  // namespace stoker
