#include "stoker/runtime/board/read_ahead_depth.h"

#include <algorithm>

namespace stoker {
namespace {

constexpr std::size_t kSamples = 4;  // fit at least: one is decoded, one is ready, others are being read
// Where less was too little, the next trial comes after twice as many bytes: a trial costs a moment without work.
constexpr std::size_t kPatienceMin = 8, kPatienceMax = 256;
constexpr std::int64_t kLongNs = 1'000'000;
constexpr int kStarvedTimes = 4;  // each before its size was read

}  // namespace

ReadAheadDepth::ReadAheadDepth(std::size_t least, std::size_t most)
    : least_(std::min(least, most)), most_(most), bytes_(least_), patience_(kPatienceMin) {}

void ReadAheadDepth::wants(std::size_t sample_bytes) {
  bytes_ = std::clamp(std::min(sample_bytes, most_) * kSamples, bytes_, most_);
}

void ReadAheadDepth::granted(std::size_t bytes) {
  quiet_bytes_ += bytes;
  tried_bytes_ += bytes;
  if (tried_bytes_ / patience_ >= bytes_) tries_ = false;
  if (quiet_bytes_ / patience_ < bytes_ || bytes_ == least_) return;
  bytes_ = std::max(bytes_ / 2, least_);
  quiet_bytes_ = tried_bytes_ = 0;
  tries_ = true;
}

void ReadAheadDepth::starved(std::int64_t ns) {
  starved_times_ = quiet_bytes_ < bytes_ ? starved_times_ + 1 : 1;
  quiet_bytes_ = 0;
  if (ns < kLongNs && starved_times_ < kStarvedTimes) return;
  if (tries_) patience_ = std::min(2 * patience_, kPatienceMax);
  tries_ = false;
  starved_times_ = 0;
  bytes_ = std::min(bytes_ * 2, most_);
}

}  // namespace stoker
