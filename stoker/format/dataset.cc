#include "stoker/format/dataset.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <utility>

#include "stoker/base/hash.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

/// `values`, eight bytes each, the lowest first.
template <std::size_t kCount>
std::array<std::uint8_t, 8 * kCount> little_endian(const std::uint64_t (&values)[kCount]) {
  std::array<std::uint8_t, 8 * kCount> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(values[i / 8] >> (8 * (i % 8)));
  return bytes;
}

std::uint64_t fingerprint_of(const Dataset& data) {
  Hasher64 hasher;
  for (std::int64_t sample = 0; sample < data.size(); ++sample) {
    const std::string_view key = data.key(sample);
    const std::optional<FieldLocation> image = data.image_field(sample);
    hasher.update(
        little_endian({key.size(), static_cast<std::uint64_t>(data.label(sample)), image ? image->length : 0}));
    hasher.update(as_bytes(key));
  }
  return hasher.digest();
}

}  // namespace

Dataset::Dataset(std::vector<std::shared_ptr<Source>> sources, SampleTable samples, std::vector<std::string> classes)
    : sources_(std::move(sources)), samples_(std::move(samples)), classes_(std::move(classes)) {
  samples_.shrink_to_fit();
  for (const std::string& name : samples_.field_names()) is_image_.push_back(is_image_field_name(name));
  fingerprint_ = fingerprint_of(*this);
}

std::optional<FieldLocation> Dataset::field(std::int64_t sample, std::string_view name) const {
  const int number = samples_.field_number(name);
  for (const FieldLocation& field : samples_.fields(sample)) {
    if (field.name == number) return field;
  }
  return std::nullopt;
}

std::optional<FieldLocation> Dataset::image_field(std::int64_t sample) const {
  std::optional<FieldLocation> found;
  for (const FieldLocation& field : samples_.fields(sample)) {
    if (!is_image_[field.name]) continue;
    const bool named_as_one = samples_.field_names()[field.name].find('.') == std::string::npos;
    if (named_as_one) return field;
    if (!found) found = field;
  }
  return found;
}

std::optional<ImageFacts> Dataset::facts(std::int64_t sample) const {
  // Neither a folder's listing nor a tar's headers say what an image is; only an index can.
  assert(sample >= 0 && sample < size());
  static_cast<void>(sample);
  return std::nullopt;
}

std::vector<std::int64_t> Dataset::shard_samples() const {
  std::vector<std::int64_t> counts(sources_.size());
  std::uint32_t source = 0;
  for (std::int64_t sample = 0; sample < size(); ++sample) {
    const std::span<const FieldLocation> located = fields(sample);
    if (!located.empty()) source = located.front().source;
    ++counts[source];
  }
  return counts;
}

std::string Dataset::describe(std::int64_t sample) const {
  const std::span<const FieldLocation> located = fields(sample);
  if (located.empty()) return fmt::format("sample '{}'", key(sample));
  return fmt::format("{}, sample '{}'", source(located.front()).name(), key(sample));
}

}  // namespace stoker
