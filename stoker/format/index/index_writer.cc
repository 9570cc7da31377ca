#include "stoker/format/index/index_writer.h"

#include <algorithm>
#include <limits>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/index/index_block_table.h"

namespace stoker {
namespace {

IndexBlockPlace place_of(std::uint64_t offset, Bytes block) {
  if (block.size() > kIndexBlockBytesMax) {
    fail(ErrorKind::kLimit,
         "the names or checksums of 256 consecutive samples take {} bytes in the index; the limit is {}", block.size(),
         kIndexBlockBytesMax);
  }
  return {offset, block.size(), hash64(block)};
}

}  // namespace

void IndexWriter::add(const SampleRow& row, Bytes entry_points) {
  names_.clear();
  for (const SampleField& field : row.fields) {
    names_.push_back(name_number(field.name));
    has_checksums_ = has_checksums_ && field.crc32c.has_value();
    has_crc32_ = has_crc32_ && field.crc32.has_value();
    if (field.offset + field.length > end_) {
      end_ = field.offset + field.length;
      last_key_ = row.key;
    }
  }
  was_decoded_ = was_decoded_ && row.soundness != Soundness::kUnknown;
  block_.add(row, names_, entry_points.size());
  entry_points_.bytes.insert(entry_points_.bytes.end(), entry_points.begin(), entry_points.end());
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
  block_.take(rows_.bytes);
  rows_.ends.push_back(rows_.bytes.size());
  entry_points_.ends.push_back(entry_points_.bytes.size());
}

// Entry points come first: they are much longer than all else, and many readers have no use for them. What opening a
// data set needs lies at the end, beside the directory, so that one request to a store that is far away fetches it.
std::vector<std::uint8_t> IndexWriter::finish(const IndexedShard& shard) {
  if (end_ > (shard.blocks ? shard.blocks->end() : shard.data_bytes)) {
    fail(ErrorKind::kLimit,
         "sample '{}' does not lie in the shard as it is, so the shard cannot have an index; it is scanned each time "
         "that it is opened",
         last_key_);
  }
  if (block_.rows() > 0) end_block();
  std::vector<std::uint8_t> index(kIndexMagic.begin(), kIndexMagic.end());
  std::vector<IndexSection> sections;
  const auto append = [&](IndexSectionKind kind, const Blocks& blocks) {
    IndexSection& section = sections.emplace_back(IndexSection{.kind = kind, .blocks = {}});
    std::size_t from = 0;
    for (const std::size_t end : blocks.ends) {
      section.blocks.push_back(place_of(index.size() + from, Bytes(blocks.bytes).subspan(from, end - from)));
      from = end;
    }
    index.insert(index.end(), blocks.bytes.begin(), blocks.bytes.end());
  };
  const auto names_in = [](std::span<const std::string> names) {
    Blocks one;
    for (const std::string& name : names) {
      append_little_endian(one.bytes, static_cast<std::uint32_t>(name.size()));
      one.bytes.insert(one.bytes.end(), name.begin(), name.end());
    }
    one.ends.push_back(one.bytes.size());
    return one;
  };
  Blocks blocks;
  if (shard.blocks) append_block_table(*shard.blocks, blocks.bytes, blocks.ends);
  append(IndexSectionKind::kEntryPoints, entry_points_);
  append(IndexSectionKind::kRows, rows_);
  if (shard.blocks) append(IndexSectionKind::kCompressedBlocks, blocks);
  if (!shard.classes.empty()) append(IndexSectionKind::kClassNames, names_in(shard.classes));
  append(IndexSectionKind::kFieldNames, names_in(field_names_));

  const std::size_t directory = index.size();
  append_directory(index, sections);
  const Bytes directory_bytes = Bytes(index).subspan(directory);
  append_trailer(index, {.directory_offset = directory,
                         .directory_bytes = directory_bytes.size(),
                         .directory_hash = hash64(directory_bytes),
                         .data_bytes = shard.data_bytes,
                         .content_tag = shard.content_tag,
                         .data_hash = shard.data_hash,
                         .samples = static_cast<std::uint64_t>(samples()),
                         .fingerprint = fingerprint_.value(),
                         .sample_bytes = sample_bytes_,
                         .has_checksums = has_checksums_,
                         .has_crc32 = has_crc32_ && !has_checksums_,
                         .was_decoded = was_decoded_});
  return index;
}

}  // namespace stoker
