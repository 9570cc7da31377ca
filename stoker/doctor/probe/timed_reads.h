// Keeps so many reads under way for a while, and counts what came.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "stoker/storage/source.h"

namespace stoker {

struct ReadPlace {
  Source* source = nullptr;
  std::string_view part{};
  std::uint64_t offset = 0, bytes = 0;
};

/// Where to read next; nothing once there is no more. Called by any thread, one at a time; must not throw.
using NextPlace = std::function<std::optional<ReadPlace>()>;

struct ReadTime {
  int depth = 1;                 // reads under way at once
  std::int64_t most_ns = 0;      // then no more are begun,
  std::int64_t least_reads = 1;  // but for these
};

struct TimedReads {
  std::int64_t reads = 0;
  std::uint64_t bytes = 0;
  std::int64_t ns = 0;
  std::int64_t cpu_ns = 0;          // of all of this process's threads
  std::vector<double> latencies_s;  // of the first reads

  double reads_per_s() const;
  double bytes_per_s() const;
  /// The same of reads that wait for nothing but a core: as if one had been there all the time, whatever a quota or
  /// other programs kept from it.
  double reads_per_s_at_work() const;
  double bytes_per_s_at_work() const;
};

/// Each read is of `bytes_max` bytes at most. Waits for all; throws the error of the first that fails.
TimedReads time_reads(const NextPlace& next, std::uint64_t bytes_max, const ReadTime& time);

}  // namespace stoker
