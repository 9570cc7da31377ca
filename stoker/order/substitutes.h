// Which samples may stand in for the one at a position when that is bad: a pure function, so that every rank, number of
// threads and resume point finds the same one.
#pragma once

#include <cstdint>

#include "stoker/order/order_options.h"
#include "stoker/order/permutation.h"

namespace stoker {

class Substitutes {
 public:
  /// So many in a row are not bad by accident.
  static constexpr std::int64_t kTriesMax = 128;

  /// For the sample `bad` at a position of an epoch: others of the whole data set, or of the same part of a mixture.
  Substitutes(const OrderOptions& options, std::int64_t epoch, std::int64_t position, std::int64_t bad);

  /// How many there are to try: all others of a small data set, each once.
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
