#include "stoker/storage/http/link_estimate.h"

#include <algorithm>

namespace stoker {
namespace {

constexpr double kWeightOfNew = 1.0 / 16;
constexpr std::uint64_t kBytesToTellRate = 64 << 10;  // a shorter body came with the head, most of it
constexpr double kAnswersPerS = 10'000, kRiseOfLeast = 1 + 1.0 / 1024;
constexpr std::int64_t kAnswersToTellLate = 200;  // of which two were later than the 99th percentile
constexpr std::int64_t kAnswersBetween = 50;      // counting the histogram for each would cost more than it gives
constexpr std::int64_t kLateLeastNs = 2'000'000;  // a thread that was not scheduled is no slow server

void move_towards(double& mean, double value) { mean = mean == 0 ? value : mean + kWeightOfNew * (value - mean); }

}  // namespace

void LinkEstimate::add(std::int64_t first_byte_ns, std::uint64_t bytes, std::int64_t body_ns) {
  first_bytes_.add(first_byte_ns);
  const auto latency = static_cast<double>(std::max<std::int64_t>(first_byte_ns, 1));
  move_towards(latency_ns_, latency);
  least_latency_ns_ = least_latency_ns_ == 0 ? latency : std::min(latency, kRiseOfLeast * least_latency_ns_);
  if (bytes >= kBytesToTellRate && body_ns > 0) {
    move_towards(ns_per_byte_, static_cast<double>(body_ns) / static_cast<double>(bytes));
  }
  if (ns_per_byte_ > 0) {
    const double gap = std::min(latency_ns_ / ns_per_byte_, static_cast<double>(kGapMost));
    gap_.store(std::max(static_cast<std::uint64_t>(gap), kGapLeast), std::memory_order_relaxed);
  }
  const std::int64_t answers = first_bytes_.total();
  if (answers >= kAnswersToTellLate && answers % kAnswersBetween == 0) late_ns_ = first_bytes_.quantile_ns(0.99);
}

int LinkEstimate::worth_at_once() const {
  constexpr double kEnough = 1e6;  // fits into an int
  return static_cast<int>(std::min(kAnswersPerS * least_latency_ns_ * 1e-9, kEnough));
}

std::optional<std::int64_t> LinkEstimate::late_after_ns() const {
  if (late_ns_ == 0) return std::nullopt;
  return std::max(late_ns_, kLateLeastNs);
}

}  // namespace stoker
