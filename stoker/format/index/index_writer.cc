#include "stoker/format/index/index_writer.h"

#include <algorithm>
#include <limits>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"

namespace stoker {

IndexWriter::IndexWriter() : bytes_(kIndexMagic.begin(), kIndexMagic.end()) {}

void IndexWriter::add(const SampleRow& row, Bytes entry_points) {
  names_.clear();
  for (const SampleField& field : row.fields) {
    names_.push_back(name_number(field.name));
    has_checksums_ = has_checksums_ && field.crc32c.has_value();
  }
  was_decoded_ = was_decoded_ && row.soundness != Soundness::kUnknown;
  block_.add(row, names_, entry_points.size());
  entry_points_.insert(entry_points_.end(), entry_points.begin(), entry_points.end());
  fingerprint_.add(row);
  sample_bytes_ += row.bytes();
  if (block_.rows() == kRowsPerBlock) end_block();
}

std::uint16_t IndexWriter::name_number(std::string_view name) {
  const auto known = std::find(field_names_.begin(), field_names_.end(), name);
  const auto number = known - field_names_.begin();
  if (known == field_names_.end()) {
    if (field_names_.size() == std::numeric_limits<std::uint16_t>::max()) {
      fail(ErrorKind::kLimit, "more than 65,535 different field names, the last of them '{}'", name);
    }
    field_names_.emplace_back(name);
  }
  return static_cast<std::uint16_t>(number);
}

void IndexWriter::end_block() {
  const std::size_t begin = bytes_.size();
  block_.take(bytes_);
  rows_.blocks.push_back(place_of(begin));
  entry_points_ends_.push_back(entry_points_.size());
}

IndexBlockPlace IndexWriter::place_of(std::size_t begin) const {
  const Bytes block = Bytes(bytes_).subspan(begin);
  if (block.size() > kIndexBlockBytesMax) {
    fail(ErrorKind::kLimit,
         "the names or checksums of 256 consecutive samples take {} bytes in the index; the limit is {}", block.size(),
         kIndexBlockBytesMax);
  }
  return {begin, block.size(), hash64(block)};
}

// Apart from the rows: they are much longer, and many readers have no use for them.
void IndexWriter::append_entry_points() {
  std::size_t from = 0;
  for (const std::size_t end : entry_points_ends_) {
    const std::size_t begin = bytes_.size();
    bytes_.insert(bytes_.end(), entry_points_.begin() + static_cast<std::ptrdiff_t>(from),
                  entry_points_.begin() + static_cast<std::ptrdiff_t>(end));
    entry_point_blocks_.blocks.push_back(place_of(begin));
    from = end;
  }
}

std::vector<std::uint8_t> IndexWriter::finish(const IndexedShard& shard) {
  if (block_.rows() > 0) end_block();

  const std::size_t names_begin = bytes_.size();
  for (const std::string& name : field_names_) {
    append_little_endian(bytes_, static_cast<std::uint32_t>(name.size()));
    bytes_.insert(bytes_.end(), name.begin(), name.end());
  }
  const IndexSection names{.kind = IndexSectionKind::kFieldNames, .blocks = {place_of(names_begin)}};

  append_entry_points();

  const std::size_t directory = bytes_.size();
  append_directory(bytes_, {rows_, names, entry_point_blocks_});
  const Bytes directory_bytes = Bytes(bytes_).subspan(directory);
  append_trailer(bytes_, {.directory_offset = directory,
                          .directory_bytes = directory_bytes.size(),
                          .directory_hash = hash64(directory_bytes),
                          .data_bytes = shard.data_bytes,
                          .content_tag = shard.content_tag,
                          .data_hash = shard.data_hash,
                          .samples = static_cast<std::uint64_t>(samples()),
                          .fingerprint = fingerprint_.value(),
                          .sample_bytes = sample_bytes_,
                          .has_checksums = has_checksums_,
                          .was_decoded = was_decoded_});
  return std::move(bytes_);
}

}  // namespace stoker
