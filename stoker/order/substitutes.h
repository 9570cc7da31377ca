// The samples that may replace a bad sample at a position: a pure function, so that every rank, number of threads and
// resume point finds the same substitute.
#pragma once

#include <cstdint>

#include "stoker/order/order_options.h"
#include "stoker/order/permutation.h"

namespace stoker {

class Substitutes {
 public:
  /// This many bad samples in a row are not an accident.
  static constexpr std::int64_t kTriesMax = 128;

  /// For the sample `bad` at a position of an epoch: others of the whole data set, or of the same part of a mixture.
  Substitutes(const OrderOptions& options, std::int64_t epoch, std::int64_t position, std::int64_t bad);

  /// The number of samples to try: in a small data set all others, each once.
  std::int64_t tries() const { return tries_; }
  /// attempt < tries()
  std::int64_t sample(std::int64_t attempt) const;

 private:
  struct Range {
    std::int64_t first, samples;
  };
  static Range range_of(const OrderOptions& options, std::int64_t sample);

  Range range_;
  Permutation permutation_;
  std::int64_t bad_, tries_;
};

}  // namespace stoker
