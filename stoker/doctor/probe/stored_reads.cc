#include "stoker/doctor/probe/stored_reads.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoker {
namespace {

// Of the bytes that were read: at least so many must come from the device for them to be cold, and no more than so many
// for them to be warm. The rest is what a file system reads besides.
constexpr double kColdShare = 0.9, kWarmShare = 0.05;

constexpr double kNsPerSecond = 1e9;

}  // namespace

void ReadEvidence::add(const ReadEvidence& other) {
  is_known &= other.is_known;
  wanted += other.wanted;
  from_device += other.from_device;
}

std::string ReadEvidence::caveat_of_cold() const {
  if (!is_known) return "the kernel does not tell whether the device gave the bytes";
  const double share = wanted > 0 ? std::min(from_device / wanted, 1.0) : 0;
  if (share >= kColdShare) return {};
  return fmt::format("{:.0f}% of the bytes came from the page cache", 100 * (1 - share));
}

std::string ReadEvidence::caveat_of_warm() const {
  if (!is_known || from_device <= kWarmShare * wanted) return {};
  return fmt::format("{:.0f}% of the bytes came from the device", 100 * std::min(from_device / wanted, 1.0));
}

TimedReads StoredReads::time(const NextPlace& next, const StoredRead& read) {
  const auto before = device_reads_.bytes();
  TimedReads reads = time_reads(next, read.bytes,
                                {.depth = read.depth,
                                 .most_ns = static_cast<std::int64_t>(read.seconds * kNsPerSecond),
                                 .least_reads = read.depth});
  const auto after = device_reads_.bytes();
  if (!before || !after) from_device_.reset();
  if (from_device_) *from_device_ += *after - *before;
  return reads;
}

}  // namespace stoker
