#include "stoker/order/substitutes.h"

#include <algorithm>

namespace stoker {

Substitutes::Range Substitutes::range_of(const OrderOptions& options, std::int64_t sample) {
  Range range{0, options.samples};
  for (const OrderPart& part : options.mixture) {
    range.samples = part.samples;
    if (sample < range.first + range.samples) break;
    range.first += range.samples;
  }
  return range;
}

Substitutes::Substitutes(const OrderOptions& options, std::int64_t epoch, std::int64_t position, std::int64_t bad)
    : range_(range_of(options, bad)),
      permutation_(static_cast<std::uint64_t>(range_.samples),
                   Random(options.seed, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(position),
                          random_stream("", "substitute", 0))),
      bad_(bad),
      tries_(std::min(range_.samples - 1, kTriesMax)) {}

// The sample after all that are tried replaces the bad one at its own place.
std::int64_t Substitutes::sample(std::int64_t attempt) const {
  const std::int64_t sample = range_.first + permutation_.at(attempt);
  return sample != bad_ ? sample : range_.first + permutation_.at(tries_);
}

}  // namespace stoker
