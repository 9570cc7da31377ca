#include "stoker/format/sample_table.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "stoker/base/error.h"

namespace stoker {
namespace {

// Far more than any data set has; reached when file names carry dots before their extension ("img.0001.jpg").
constexpr std::size_t kMaxFieldNames = 4096;

}  // namespace

std::string_view SampleTable::key(std::int64_t sample) const {
  const auto row = static_cast<std::size_t>(sample);
  return std::string_view(text_).substr(key_begin_[row], key_length_[row]);
}

std::span<const FieldLocation> SampleTable::fields(std::int64_t sample) const {
  const auto row = static_cast<std::size_t>(sample);
  const std::uint64_t end = row + 1 < first_field_.size() ? first_field_[row + 1] : fields_.size();
  return std::span(fields_).subspan(first_field_[row], end - first_field_[row]);
}

std::string_view SampleTable::part(const FieldLocation& field) const {
  return std::string_view(text_).substr(field.part_begin, field.part_length);
}

void SampleTable::read(std::int64_t row, SampleRow& into) const {
  into.clear();
  into.key = key(row);
  into.label = label(row);
  const bool have_crc32 = with_crc32_ == fields_.size();
  for (const FieldLocation& field : fields(row)) {
    into.fields.push_back(
        {.name = field_names_[field.name], .part = part(field), .offset = field.offset, .length = field.length});
    if (have_crc32) into.fields.back().crc32 = field.crc32;
  }
}

Fingerprint SampleTable::fingerprint() const {
  Fingerprint fingerprint;
  SampleRow row;
  for (std::int64_t i = 0; i < size(); ++i) {
    read(i, row);
    fingerprint.add(row);
  }
  return fingerprint;
}

std::uint64_t SampleTable::bytes() const {
  std::uint64_t sum = 0;
  for (const FieldLocation& field : fields_) sum += field.length;
  return sum;
}

void SampleTable::add_sample(std::string_view key, std::int64_t label) {
  if (key.size() > std::numeric_limits<std::uint32_t>::max())
    fail(ErrorKind::kLimit, "a sample's key is over 4 GiB long");
  key_begin_.push_back(text_.size());
  key_length_.push_back(static_cast<std::uint32_t>(key.size()));
  labels_.push_back(label);
  first_field_.push_back(fields_.size());
  text_ += key;
}

void SampleTable::add_field(std::string_view name, std::string_view part, std::uint64_t offset, std::uint64_t length) {
  assert(size() > 0);
  if (part.size() > std::numeric_limits<std::uint16_t>::max()) {
    fail(ErrorKind::kLimit, "the path '{}...' is longer than 65,535 bytes", part.substr(0, 100));
  }
  FieldLocation field;
  field.offset = offset;
  field.length = length;
  field.part_length = static_cast<std::uint16_t>(part.size());
  field.name = name_number(name);

  // In a folder the part is the key and an extension: the key's text is shared where it was just written.
  const std::uint64_t key_begin = key_begin_.back();
  const std::uint64_t key_end = key_begin + key_length_.back();
  const bool shares_key = text_.size() == key_end && part.starts_with(key(size() - 1));
  field.part_begin = shares_key ? key_begin : text_.size();
  text_ += shares_key ? part.substr(key_length_.back()) : part;
  fields_.push_back(field);
}

void SampleTable::shrink_to_fit() {
  text_.shrink_to_fit();
  key_begin_.shrink_to_fit();
  key_length_.shrink_to_fit();
  labels_.shrink_to_fit();
  first_field_.shrink_to_fit();
  fields_.shrink_to_fit();
}

std::uint16_t SampleTable::name_number(std::string_view name) {
  const auto known = std::find(field_names_.begin(), field_names_.end(), name);
  if (known != field_names_.end()) return static_cast<std::uint16_t>(known - field_names_.begin());
  if (field_names_.size() == kMaxFieldNames) {
    fail(ErrorKind::kLimit,
         "more than {} different field names, the last of them '{}': a field's name is everything after the first dot "
         "of a file's name, so names must have no other dot before their extension",
         kMaxFieldNames, name);
  }
  field_names_.emplace_back(name);
  return static_cast<std::uint16_t>(field_names_.size() - 1);
}

void SampleTable::add(const SampleRow& row) {
  add_sample(row.key, row.label);
  for (const SampleField& field : row.fields) {
    add_field(field.name, field.part, field.offset, field.length);
    if (!field.crc32) continue;
    fields_.back().crc32 = *field.crc32;
    ++with_crc32_;
  }
}

SampleTable table_of(SampleStream& samples) {
  SampleTable table;
  SampleRow row;
  while (samples.next(row)) table.add(row);
  return table;
}

}  // namespace stoker
