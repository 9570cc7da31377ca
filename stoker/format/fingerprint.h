// Distinguishes data sets: a fingerprint changes with the samples, their order, their images' sizes and their labels,
// but not with their places. The fingerprints of two data sets combine to that of their concatenation, so that a
// folder, one tar and a thousand shards of the same samples have the same fingerprint.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker {

struct SampleRow;

/// A polynomial over the samples' hashes, modulo the prime 2^61 - 1.
class Fingerprint {
 public:
  Fingerprint() = default;
  /// As stored: `value` of `samples` samples.
  Fingerprint(std::uint64_t value, std::int64_t samples);

  void add(std::string_view key, std::int64_t label, std::uint64_t image_bytes);
  void add(const SampleRow& row);
  void append(const Fingerprint& next);

  std::uint64_t value() const { return value_; }
  std::int64_t samples() const { return samples_; }

 private:
  std::uint64_t value_ = 0;
  std::int64_t samples_ = 0;
};

}  // namespace stoker
