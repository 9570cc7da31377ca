#include "stoker/format/index/shard_index.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/pending.h"
#include "stoker/format/index/index_block_table.h"

namespace stoker {

ShardIndex::ShardIndex(IndexPlace place, std::shared_ptr<IndexCache> cache)
    : place_(std::move(place)), cache_(std::move(cache)) {
  read_directory_of(place_);
  const std::int64_t blocks = (size() + kRowsPerBlock - 1) / kRowsPerBlock;
  if (static_cast<std::int64_t>(blocks_.size()) != blocks || entry_points_.size() != blocks_.size()) {
    fail_damaged("it has too few blocks");
  }
  number_ = cache_->add_index(blocks);
  if (place_.end) cache_kept_rows();
  place_.end.reset();
}

void ShardIndex::read_directory_of(const IndexPlace& place) {
  const IndexTrailer& trailer = place.trailer;
  sections_ = read_directory(read_checked({trailer.directory_offset, trailer.directory_bytes, trailer.directory_hash}),
                             trailer.directory_offset);
  for (const IndexSection& section : sections_) {
    if (section.version != 1) continue;
    if (section.kind == IndexSectionKind::kRows) blocks_ = section.blocks;
    if (section.kind == IndexSectionKind::kEntryPoints) entry_points_ = section.blocks;
    if (section.kind == IndexSectionKind::kFieldNames) read_names(section, field_names_);
    if (section.kind == IndexSectionKind::kClassNames) read_names(section, class_names_);
    if (section.kind == IndexSectionKind::kCompressedBlocks) read_compressed_blocks(section);
  }
}

void ShardIndex::read_names(const IndexSection& section, std::vector<std::string>& into) const {
  for (const IndexBlockPlace& block : section.blocks) {
    const std::vector<std::uint8_t> bytes = read_checked(block);
    for (std::size_t begin = 0; begin < bytes.size();) {
      if (bytes.size() - begin < 4) fail_damaged("a name is cut short");
      const auto length = load_little_endian<std::uint32_t>(bytes.data() + begin);
      begin += 4;
      if (length > bytes.size() - begin) fail_damaged("a name is cut short");
      into.emplace_back(as_text(bytes).substr(begin, length));
      begin += length;
    }
  }
}

void ShardIndex::read_compressed_blocks(const IndexSection& section) {
  auto table = std::make_shared<BlockTable>(place_.trailer.data_bytes);
  for (const IndexBlockPlace& block : section.blocks) {
    if (!read_block_table(read_checked(block), *table)) fail_damaged("a compressed block does not lie in the shard");
  }
  table->close();
  compressed_blocks_ = std::move(table);
}

std::vector<std::uint8_t> ShardIndex::read_checked(const IndexBlockPlace& place) const {
  std::vector<std::uint8_t> bytes(place.length);
  const std::uint64_t begin = place_.begin + place.offset;
  place_.end ? place_.end->read(begin, bytes) : read_fully(*place_.source, begin, bytes);
  if (hash64(bytes) != place.hash) fail_damaged(fmt::format("its checksum at byte {} does not match", place.offset));
  return bytes;
}

void ShardIndex::cache_kept_rows() {
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const IndexBlockPlace& place = blocks_[block];
    if (!place_.end->keeps(place_.begin + place.offset, place.length)) continue;
    LoadedBlock loaded = cache_->spare();
    loaded.bytes.resize(place.length);
    place_.end->read(place_.begin + place.offset, loaded.bytes);
    finish_loading(static_cast<std::int64_t>(block), loaded);
    cache_->insert(number_, static_cast<std::int64_t>(block), std::move(loaded));
  }
}

void ShardIndex::fail_damaged(std::string_view what) const {
  fail(ErrorKind::kData,
       "the index in '{}' is damaged ({}); rebuild it with `stoker index`, or ignore it with --no-index",
       place_.source->name(), what);
}

void ShardIndex::finish_loading(std::int64_t block, LoadedBlock& loaded) const {
  const IndexBlockPlace& place = blocks_[static_cast<std::size_t>(block)];
  if (hash64(loaded.bytes) != place.hash) {
    fail_damaged(fmt::format("its checksum at byte {} does not match", place.offset));
  }
  const std::int64_t rows = std::min(kRowsPerBlock, size() - block * kRowsPerBlock);
  const IndexLimits limits{.names = field_names_.size(),
                           .data_bytes = compressed_blocks_ ? compressed_blocks_->end() : place_.trailer.data_bytes,
                           .has_checksums = place_.trailer.has_checksums,
                           .has_crc32 = place_.trailer.has_crc32,
                           .entry_points_bytes = entry_points_[static_cast<std::size_t>(block)].length};
  try {
    loaded.block = IndexBlock(loaded.bytes, rows, limits);
  } catch (const Error& error) {
    fail_damaged(error.message());
  }
}

void ShardIndex::read(std::int64_t row, SampleRow& into) const {
  assert(row >= 0 && row < size());
  const std::int64_t block = row / kRowsPerBlock, row_in_block = row % kRowsPerBlock;
  if (cache_->read(number_, block, row_in_block, field_names_, into)) return place_entry_points(block, into);
  const IndexBlockPlace& place = blocks_[static_cast<std::size_t>(block)];
  LoadedBlock loaded = cache_->spare();
  loaded.bytes.resize(place.length);
  read_fully(*place_.source, place_.begin + place.offset, loaded.bytes);
  finish_loading(block, loaded);
  loaded.block.read(row_in_block, field_names_, into);
  cache_->insert(number_, block, std::move(loaded));
  place_entry_points(block, into);
}

void ShardIndex::place_entry_points(std::int64_t block, SampleRow& row) const {
  row.entry_points.offset += place_.begin + entry_points_[static_cast<std::size_t>(block)].offset;
  row.entry_points_source = place_.source.get();
}

void ShardIndex::prepare(std::int64_t row, IndexFetch& fetch) const {
  const std::int64_t block = row / kRowsPerBlock;
  if (!cache_->holds(number_, block)) fetch.add(*this, block);
}

void ShardIndex::check_all() const {
  for (const IndexSection& section : sections_) {
    for (const IndexBlockPlace& place : section.blocks) read_checked(place);
  }
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    LoadedBlock loaded{.bytes = read_checked(blocks_[block]), .block = {}};
    finish_loading(static_cast<std::int64_t>(block), loaded);
  }
  // What no section holds: the magic in front, and the padding before the trailer.
  const IndexTrailer& trailer = place_.trailer;
  std::vector<std::uint8_t> rest(kIndexMagic.size());
  read_fully(*place_.source, place_.begin, rest);
  if (as_text(rest) != kIndexMagic) fail_damaged("its first bytes are not those of an index");
  const std::uint64_t padding = trailer.directory_offset + trailer.directory_bytes;
  rest.resize(trailer.index_bytes - kIndexTrailerBytes - padding);
  read_fully(*place_.source, place_.begin + padding, rest);
  if (std::any_of(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte != 0; })) {
    fail_damaged("its padding is not zero");
  }
}

void IndexFetch::add(const ShardIndex& index, std::int64_t block) {
  const auto same = [&](const Read& read) { return read.index == &index && read.block == block; };
  if (std::any_of(reads_.begin(), reads_.end(), same)) return;
  reads_.push_back({&index, block, index.cache_->spare(), {}, {}});
}

void IndexFetch::run() {
  {
    Pending pending;
    for (Read& read : reads_) {
      const IndexBlockPlace& place = read.index->blocks_[static_cast<std::size_t>(read.block)];
      read.loaded.bytes.resize(place.length);
      read.into = read.loaded.bytes;
      read.request.offset = read.index->place_.begin + place.offset;
      read.request.into = Pieces(&read.into, 1);
      start_pending(*read.index->place_.source, read.request, pending);
    }
  }
  for (Read& read : reads_) {
    if (read.request.error) continue;
    try {
      read.index->finish_loading(read.block, read.loaded);
    } catch (const Error&) {
      continue;  // said again, to whom it concerns, when a row of the block is read
    }
    read.index->cache_->insert(read.index->number_, read.block, std::move(read.loaded));
  }
  reads_.clear();
}

}  // namespace stoker
