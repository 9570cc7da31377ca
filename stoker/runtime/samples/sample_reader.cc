#include "stoker/runtime/samples/sample_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/format/record_field.h"
#include "stoker/order/epoch_order.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

EpochOrder order_of(const Dataset& dataset, std::uint64_t seed, std::int64_t epoch) {
  return EpochOrder({.samples = dataset.size(), .seed = seed}, epoch);
}

}  // namespace

std::shared_ptr<const Dataset> open_samples(const std::vector<std::string>& data, const OpenOptions& options) {
  std::shared_ptr<const Dataset> dataset = open(data, {}, options);
  if (dataset->size() == 0)
    fail(ErrorKind::kData, "there are no samples in {}: Stoker looks for images and shards", fmt::join(data, ", "));
  return dataset;
}

std::vector<std::int64_t> first_samples(const Dataset& dataset, std::uint64_t seed, std::int64_t count) {
  const EpochOrder order = order_of(dataset, seed, 0);
  std::vector<std::int64_t> samples;
  for (std::int64_t position = 0; position < std::min(count, dataset.size()); ++position) {
    samples.push_back(*order.sample_at(position));
  }
  return samples;
}

std::vector<std::int64_t> positions_of(const std::vector<std::int64_t>& samples, const Dataset& dataset,
                                       std::uint64_t seed, std::int64_t epoch) {
  const EpochOrder order = order_of(dataset, seed, epoch);
  std::vector<std::int64_t> positions(samples.size(), -1);
  std::size_t missing = samples.size();
  for (std::int64_t position = 0; missing > 0; ++position) {
    const auto found = std::find(samples.begin(), samples.end(), order.sample_at(position));
    if (found == samples.end()) continue;
    positions[static_cast<std::size_t>(found - samples.begin())] = position;
    --missing;
  }
  return positions;
}

std::span<const Bytes> SampleReader::read(std::int64_t sample) {
  memory_.resize(plan_.fields().size());
  fields_.clear();
  dataset_.read(sample, row_);
  add_lacking_fields(row_, plan_.optional_fields());
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const std::string& name = plan_.fields()[i];
    const SampleField* field = find_field(row_, name);
    if (!field) {
      fail(ErrorKind::kBadSample, "it has no field '{}'; the data set's are {}", name,
           fmt::join(dataset_.field_names(), ", "));
    }
    memory_[i].resize(field->length);
    read_checked(row_, *field, memory_[i]);
    fields_.emplace_back(memory_[i]);
  }
  return fields_;
}

SampleInput SampleReader::input(std::int64_t sample, const SampleDraw& draw) {
  const std::span<const Bytes> fields = read(sample);
  SampleInput input{.fields = fields,
                    .entry_points = read_entry_points(),
                    .has_faults = row_.soundness == Soundness::kConcealed || row_.soundness == Soundness::kBad,
                    .label = row_.label,
                    .draw = draw};
  const SampleField* const image = row_.image_field();
  for (std::size_t i = 0; !input.entry_points.empty() && i < fields.size(); ++i) {
    if (image && find_field(row_, plan_.fields()[i]) == image) input.entry_points_of = static_cast<int>(i);
  }
  return input;
}

Bytes SampleReader::read_entry_points() {
  entry_points_.resize(row_.entry_points.length);
  if (!entry_points_.empty()) {
    read_fully(*row_.entry_points_source, row_.entry_points.offset, entry_points_);
  }
  return entry_points_;
}

}  // namespace stoker
