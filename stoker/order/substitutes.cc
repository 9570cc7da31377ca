#include "stoker/order/substitutes.h"

#include <algorithm>

#include "stoker/base/random.h"

namespace stoker {
namespace {

Permutation::RoundKeys keys_of(std::uint64_t seed, std::int64_t epoch, std::int64_t position) {
  Random random(seed, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(position),
                random_stream("", "substitute", 0));
  Permutation::RoundKeys keys;
  for (std::uint32_t& key : keys) key = random.next_u32();
  return keys;
}

}  // namespace

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
      permutation_(static_cast<std::uint64_t>(range_.samples), keys_of(options.seed, epoch, position)),
      bad_(bad),
      tries_(std::min(range_.samples - 1, kTriesMax)) {}

// The sample after all that are tried replaces the bad one at its own place.
std::int64_t Substitutes::sample(std::int64_t attempt) const {
  const auto at = [&](std::int64_t place) {
    return range_.first + static_cast<std::int64_t>(permutation_(static_cast<std::uint64_t>(place)));
  };
  const std::int64_t sample = at(attempt);
  return sample != bad_ ? sample : at(tries_);
}

}  // namespace stoker
