#include "stoker/format/open/sharded_dataset.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {

ShardedDataset::ShardedDataset(std::vector<std::unique_ptr<DataShard>> shards, std::vector<std::string> fields,
                               std::vector<std::string> classes, TrafficMeters meters,
                               std::shared_ptr<const LateShards> late, bool is_direct)
    : shards_(std::move(shards)),
      first_samples_{0},
      field_names_(std::move(fields)),
      classes_(std::move(classes)),
      meters_(std::move(meters)),
      late_(std::move(late)),
      is_direct_(is_direct) {
  for (const auto& shard : shards_) {
    first_samples_.push_back(first_samples_.back() + shard->samples());
    fingerprint_.append(shard->fingerprint());
  }
}

namespace {

std::vector<std::unique_ptr<DataShard>> one_shard(std::shared_ptr<Source> source, SampleTable samples) {
  samples.shrink_to_fit();
  std::vector<std::unique_ptr<DataShard>> shards;
  shards.push_back(std::make_unique<DataShard>(
      OpenedShard{std::move(source), std::make_shared<const SampleTable>(std::move(samples))}));
  return shards;
}

}  // namespace

ShardedDataset::ShardedDataset(std::shared_ptr<Source> source, SampleTable samples, std::vector<std::string> classes)
    : ShardedDataset(one_shard(std::move(source), samples), samples.field_names(), std::move(classes)) {}

ShardedDataset::Place ShardedDataset::place_of(std::int64_t sample) const {
  assert(sample >= 0 && sample < size());
  const auto next = std::upper_bound(first_samples_.begin(), first_samples_.end(), sample);
  const auto shard = static_cast<std::size_t>(next - first_samples_.begin()) - 1;
  return {shards_[shard].get(), sample - first_samples_[shard]};
}

void ShardedDataset::read(std::int64_t sample, SampleRow& into) const {
  const Place place = place_of(sample);
  place.shard->rows().read(place.row, into);
  into.source = &place.shard->source();
}

// By their numbers among the late ones, each once.
std::vector<std::size_t> ShardedDataset::late_shards_of(std::span<const std::int64_t> samples) const {
  std::vector<std::size_t> numbers;
  for (const std::int64_t sample : samples) {
    if (const auto number = place_of(sample).shard->late_number()) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

void ShardedDataset::prepare(std::span<const std::int64_t> samples) const {
  std::vector<std::size_t> late;
  if (late_) late = late_shards_of(samples);
  if (!late.empty()) late_->expect(late);
  IndexFetch fetch;
  for (const std::int64_t sample : samples) {
    const Place place = place_of(sample);
    try {
      place.shard->rows().prepare(place.row, fetch);
    } catch (const Error&) {
      continue;  // a shard that cannot be opened; read() says why
    }
  }
  if (!late.empty()) late_->forget(late);
  fetch.run();
}

std::vector<std::int64_t> ShardedDataset::shard_samples() const {
  std::vector<std::int64_t> counts;
  for (const auto& shard : shards_) counts.push_back(shard->samples());
  return counts;
}

std::uint64_t ShardedDataset::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& shard : shards_) sum += shard->bytes();
  return sum;
}

}  // namespace stoker
