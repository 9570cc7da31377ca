#include "stoker/order/mixed_order.h"

#include <algorithm>
#include <cassert>

#include "stoker/order/permutation.h"

namespace stoker {
namespace {

// Blocks longer than the weights need are closer to random.
constexpr std::int64_t kBlockMin = 256;

Permutation shuffled(std::int64_t size, std::uint64_t seed, std::int64_t number, std::int64_t part, const char* what) {
  return {static_cast<std::uint64_t>(size), Random(seed, static_cast<std::uint64_t>(number),
                                                   static_cast<std::uint64_t>(part), random_stream("", what, 0))};
}

}  // namespace

MixedOrder::MixedOrder(const OrderOptions& options) : seed_(options.seed) {
  std::int64_t weights = 0;
  for (const OrderPart& part : options.mixture) weights += part.weight;
  const std::int64_t times = std::max<std::int64_t>(1, kBlockMin / weights);
  std::int64_t first = 0;
  for (const OrderPart& part : options.mixture) {
    assert(part.samples > 0 && part.weight > 0);
    const std::int64_t quota = times * part.weight;
    parts_.push_back({first, part.samples, block_, quota});
    first += part.samples;
    block_ += quota;
  }
}

std::int64_t MixedOrder::sample_at(std::int64_t draw) const {
  const std::int64_t block = draw / block_;
  const std::int64_t slot = shuffled(block_, seed_, block, 0, "mixture").at(draw % block_);
  const auto next = std::upper_bound(parts_.begin(), parts_.end(), slot,
                                     [](std::int64_t value, const Part& part) { return value < part.block_begin; });
  const Part& part = *(next - 1);
  const std::int64_t nth = block * part.quota + (slot - part.block_begin);  // of the part's own draws
  const Permutation pass = shuffled(part.samples, seed_, nth / part.samples, next - parts_.begin(), "mixed part");
  return part.first + pass.at(nth % part.samples);
}

}  // namespace stoker
