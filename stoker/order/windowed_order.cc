#include "stoker/order/windowed_order.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "stoker/base/random.h"
#include "stoker/order/permutation.h"

namespace stoker {
namespace {

std::uint32_t low(std::int64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::int64_t value) { return static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> 32); }

// Cheap enough to be made for every sample, which keeps the order a function without state.
Permutation window_permutation(std::int64_t size, std::array<std::uint32_t, 2> key, std::int64_t lane,
                               std::int64_t window) {
  Permutation::RoundKeys round_keys;
  static_assert(round_keys.size() == 8);
  for (std::uint32_t half = 0; half < 2; ++half) {
    const auto block = philox4x32({low(window), high(window), low(lane), half}, key);
    std::copy(block.begin(), block.end(), round_keys.begin() + 4 * half);
  }
  return {static_cast<std::uint64_t>(size), round_keys};
}

}  // namespace

WindowedOrder::WindowedOrder(const OrderOptions& options, std::int64_t epoch)
    : samples_(options.samples),
      global_batch_(options.global_batch),
      lane_slots_(options.global_batch / options.lanes),
      tail_(options.tail),
      lane_size_(options.samples / options.lanes),
      longer_lanes_(options.samples % options.lanes) {
  assert(samples_ > 0 && lane_slots_ * options.lanes == global_batch_ && options.shard_samples);
  const std::int64_t lane_size_max = lane_size_ + (longer_lanes_ > 0 ? 1 : 0);
  window_ = std::min(options.window, lane_size_max);
  // If all lanes began their windows in the same batch, read-ahead would have to read all windows at once.
  stagger_ = window_ < lane_size_max ? window_ / options.lanes : 0;

  Random random(options.seed, static_cast<std::uint64_t>(epoch), 0, random_stream("", "windowed order", 0));
  window_key_ = {random.next_u32(), random.next_u32()};
  // If a few shards are longer than a lane, shuffling shards alone would begin the lanes at the same samples again.
  rotation_ = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(samples_)));

  const std::vector<std::int64_t>& sizes = *options.shard_samples;
  std::vector<std::int64_t> first(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), first.begin(), std::int64_t{0});
  assert(first.back() + sizes.back() == samples_);
  const Permutation turns(sizes.size(), options.seed, static_cast<std::uint64_t>(epoch));
  shard_begin_.reserve(sizes.size());
  shard_first_.reserve(sizes.size());
  std::int64_t begin = 0;
  for (std::uint64_t turn = 0; turn < sizes.size(); ++turn) {
    const std::uint64_t shard = turns(turn);
    shard_begin_.push_back(begin);
    shard_first_.push_back(first[shard]);
    begin += sizes[shard];
  }
}

std::optional<std::int64_t> WindowedOrder::sample_at(std::int64_t position) const {
  const std::int64_t batch = position / global_batch_, slot = position % global_batch_;
  Lane lane = lane_at(slot / lane_slots_);
  std::int64_t index = batch * lane_slots_ + slot % lane_slots_;
  if (index >= lane.size) {
    if (counts_each_once(tail_)) return std::nullopt;
    if (lane.size == 0) lane = lane_at(lane.number % samples_);  // fewer samples than lanes: it borrows from another
    index %= lane.size;
  }
  std::int64_t place = lane.begin + shuffled(lane, index) + rotation_;
  if (place >= samples_) place -= samples_;
  return sample_of(place);
}

WindowedOrder::Lane WindowedOrder::lane_at(std::int64_t number) const {
  return {number, number * lane_size_ + std::min(number, longer_lanes_), lane_size_ + (number < longer_lanes_ ? 1 : 0)};
}

WindowedOrder::Window WindowedOrder::window_of(const Lane& lane, std::int64_t index) const {
  const std::int64_t ahead = lane.number * stagger_;
  const std::int64_t number = (index + ahead) / window_;
  return {number, std::max<std::int64_t>(number * window_ - ahead, 0)};
}

bool WindowedOrder::window_began_by(std::int64_t position, std::int64_t batch) const {
  const std::int64_t slot = position % global_batch_;
  const std::int64_t index = position / global_batch_ * lane_slots_ + slot % lane_slots_;
  const std::int64_t begin = window_of(lane_at(slot / lane_slots_), index).begin;
  return begin == 0 || begin < batch * lane_slots_;
}

std::int64_t WindowedOrder::shuffled(const Lane& lane, std::int64_t index) const {
  const Window window = window_of(lane, index);
  const std::int64_t end = std::min((window.number + 1) * window_ - lane.number * stagger_, lane.size);
  const Permutation permutation = window_permutation(end - window.begin, window_key_, lane.number, window.number);
  return window.begin + permutation.at(index - window.begin);
}

std::int64_t WindowedOrder::sample_of(std::int64_t place) const {
  // The last shard that begins at this place or before; an empty shard begins where the next one does.
  const auto after = std::upper_bound(shard_begin_.begin(), shard_begin_.end(), place);
  const auto turn = static_cast<std::size_t>(after - shard_begin_.begin()) - 1;
  return shard_first_[turn] + (place - shard_begin_[turn]);
}

}  // namespace stoker
