#include "stoker/runtime/board/read_ahead_depth.h"

#include <algorithm>

namespace stoker {
namespace {

constexpr std::size_t kSamples = 4;  // fit at least: one is decoded, one is ready, others are being read
// Its size is read so often before less is tried: a worker that starves then costs little.
constexpr std::size_t kQuietTimes = 32;
constexpr std::int64_t kLongNs = 1'000'000;
constexpr int kStarvedTimes = 4;  // each before its size was read

}  // namespace

ReadAheadDepth::ReadAheadDepth(std::size_t least, std::size_t most)
    : least_(std::min(least, most)), most_(most), bytes_(least_) {}

void ReadAheadDepth::wants(std::size_t sample_bytes) {
  bytes_ = std::clamp(std::min(sample_bytes, most_) * kSamples, bytes_, most_);
}

void ReadAheadDepth::granted(std::size_t bytes) {
  quiet_bytes_ += bytes;
  if (quiet_bytes_ / kQuietTimes < bytes_) return;
  quiet_bytes_ = 0;
  bytes_ = std::max(bytes_ / 2, least_);
}

void ReadAheadDepth::starved(std::int64_t ns) {
  starved_times_ = quiet_bytes_ < bytes_ ? starved_times_ + 1 : 1;
  quiet_bytes_ = 0;
  if (ns < kLongNs && starved_times_ < kStarvedTimes) return;
  starved_times_ = 0;
  bytes_ = std::min(bytes_ * 2, most_);
}

}  // namespace stoker
