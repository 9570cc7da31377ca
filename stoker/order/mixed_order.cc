#include "stoker/order/mixed_order.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <numeric>

#include "stoker/order/permutation.h"

namespace stoker {
namespace {

__extension__ using Wide = __int128;

// Shorter blocks would be closer to regular, longer ones mix one pass with the next more widely.
constexpr std::int64_t kBlockMax = 256;

Permutation shuffled(std::int64_t size, std::uint64_t seed, std::int64_t number, std::int64_t part, const char* what) {
  return {static_cast<std::uint64_t>(size), Random(seed, static_cast<std::uint64_t>(number),
                                                   static_cast<std::uint64_t>(part), random_stream("", what, 0))};
}

}  // namespace

MixedOrder::MixedOrder(const OrderOptions& options) : seed_(options.seed) {
  std::int64_t first = 0;
  for (const OrderPart& part : options.mixture) {
    assert(part.samples > 0 && part.weight > 0);
    parts_.push_back({first, part.samples, part.weight});
    first += part.samples;
    weights_ += part.weight;
  }
  block_ = weights_ > kBlockMax ? kBlockMax : kBlockMax / weights_ * weights_;  // where it can be, shares are exact
}

/// Of the first `draws`, how many are of each part. A part's draws are due at even distances, the first after half of
/// one; what is due first is dealt first. So the number of each never falls, and stays close to its share.
std::vector<std::int64_t> MixedOrder::dealt_to(std::int64_t draws) const {
  std::vector<std::int64_t> dealt;
  std::int64_t all = 0;
  for (const Part& part : parts_) {
    dealt.push_back(static_cast<std::int64_t>((2 * Wide{draws} * part.weight + weights_) / (2 * Wide{weights_})));
    all += dealt.back();
  }
  // A draw is due at (2 n + 1) / weight, where n are before it; of those due together the first part's comes first.
  const auto is_due_before = [this](std::int64_t n, std::size_t part, std::int64_t other_n, std::size_t other) {
    const Wide at = (2 * Wide{n} + 1) * parts_[other].weight, other_at = (2 * Wide{other_n} + 1) * parts_[part].weight;
    return at != other_at ? at < other_at : part < other;
  };
  std::vector<std::size_t> heap(all == draws ? 0 : parts_.size());
  std::iota(heap.begin(), heap.end(), std::size_t{0});
  const std::int64_t step = all < draws ? 1 : -1;
  const auto comes_later = [&](std::size_t a, std::size_t b) {
    return step > 0 ? is_due_before(dealt[b], b, dealt[a], a) : is_due_before(dealt[a] - 1, a, dealt[b] - 1, b);
  };
  std::make_heap(heap.begin(), heap.end(), comes_later);
  for (; all != draws; all += step) {
    std::pop_heap(heap.begin(), heap.end(), comes_later);
    dealt[heap.back()] += step;
    std::push_heap(heap.begin(), heap.end(), comes_later);
  }
  return dealt;
}

std::int64_t MixedOrder::sample_at(std::int64_t draw) const {
  const std::int64_t block = draw / block_;
  std::int64_t slot = shuffled(block_, seed_, block, 0, "mixture").at(draw % block_);
  const std::vector<std::int64_t> before = dealt_to(block * block_), after = dealt_to((block + 1) * block_);
  std::size_t number = 0;
  for (; slot >= after[number] - before[number]; ++number) slot -= after[number] - before[number];
  const Part& part = parts_[number];
  const std::int64_t nth = before[number] + slot;  // of the part's own draws
  const Permutation pass =
      shuffled(part.samples, seed_, nth / part.samples, static_cast<std::int64_t>(number), "mixed part");
  return part.first + pass.at(nth % part.samples);
}

}  // namespace stoker
