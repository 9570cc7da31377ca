#include "stoker/format/sample_row.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/crc32.h"
#include "stoker/base/crc32c.h"
#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/member_name.h"
#include "stoker/storage/source.h"

namespace stoker {

namespace {

const SampleField* chosen_image(const SampleRow& row) {
  if (const SampleField* const field = row.field(row.image_name)) return field;
  for (const SampleField& field : row.fields) {
    if (field.name.size() <= row.image_name.size() + 1 || !field.name.starts_with(row.image_name)) continue;
    const std::string_view ending = field.name.substr(row.image_name.size());
    if (ending[0] != '.' || ending.find('.', 1) != std::string_view::npos) continue;
    if (is_image_field_name(field.name) || ending == ".npy") return &field;
  }
  return nullptr;
}

}  // namespace

void SampleRow::clear() {
  key.clear();
  label = -1;
  relabelled = false;
  says_unknown = false;
  image_name = {};
  fields.clear();
  facts.reset();
  soundness = Soundness::kUnknown;
  chunk_crcs.clear();
  source = nullptr;
  entry_points = {};
  entry_points_source = nullptr;
}

const SampleField* SampleRow::field(std::string_view name) const {
  for (const SampleField& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

const SampleField* SampleRow::image_field() const {
  if (!image_name.empty()) return chosen_image(*this);
  const SampleField* found = nullptr;
  for (const SampleField& field : fields) {
    if (!is_image_field_name(field.name)) continue;
    const bool named_as_one = field.name.find('.') == std::string_view::npos;
    if (named_as_one) return &field;
    if (!found) found = &field;
  }
  return found ? found : field("npy");
}

void SampleRow::choose_image(std::string_view name) {
  const SampleField* const before = image_field();
  image_name = name;
  if (image_field() == before) return;
  facts.reset();
  soundness = Soundness::kUnknown;
  entry_points = {};
  entry_points_source = nullptr;
}

std::uint64_t SampleRow::bytes() const {
  std::uint64_t left = kBytesMax;
  for (const SampleField& field : fields) left -= std::min(left, field.length);
  return kBytesMax - left;
}

std::string contradiction_of_shard(const SampleField& field, Bytes bytes) {
  if (!field.crc32 || crc32(bytes) == *field.crc32) return {};
  return fmt::format("its field '{}' is damaged: the checksum (CRC-32) that the shard has of its {} does not match",
                     field.name, byte_count(field.length));
}

void check_field(const SampleField& field, Bytes bytes) {
  const std::string wrong = contradiction_of_shard(field, bytes);
  if (!wrong.empty()) fail(ErrorKind::kBadSample, "{}", wrong);
  if (!field.crc32c || crc32c(bytes) == *field.crc32c) return;
  fail(ErrorKind::kBadSample,
       "its field '{}' is damaged, or has changed since the index was made: the checksum of its {} at byte {} does not "
       "match",
       field.name, byte_count(field.length), field.offset);
}

void read_checked(const SampleRow& row, const SampleField& field, MutableBytes into) {
  read_fully(*row.source, field.offset, into, field.part);
  check_field(field, into);
}

bool has_chunk_crcs(std::string_view field, std::uint64_t length) {
  return length > kChunkBytes && !is_image_field_name(field);
}

}  // namespace stoker
