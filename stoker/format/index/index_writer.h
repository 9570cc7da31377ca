// Makes the index of one shard, row by row; docs/format-index.md has its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/format/fingerprint.h"
#include "stoker/format/index/index_block.h"
#include "stoker/format/index/index_layout.h"
#include "stoker/format/sample_row.h"
#include "stoker/storage/block_table.h"

namespace stoker {

/// What is known of the shard as a whole once its last sample was added.
struct IndexedShard {
  std::uint64_t data_bytes = 0;
  std::uint64_t content_tag = 0;  // for an index in a file of its own
  std::optional<std::uint64_t> data_hash{};
  const BlockTable* blocks = nullptr;      // compressed ones that fields lie in, if there are any
  std::span<const std::string> classes{};  // their names by label, if the shard has them
};

class IndexWriter {
 public:
  /// In the shard's order. All rows have their checksums, or none has: the index says so for all. `entry_points` are
  /// those of its image; the row's own are not looked at.
  void add(const SampleRow& row, Bytes entry_points = {});
  /// Once, at the end: the bytes of the index.
  std::vector<std::uint8_t> finish(const IndexedShard& shard);

  std::int64_t samples() const { return fingerprint_.samples(); }
  const Fingerprint& fingerprint() const { return fingerprint_; }
  std::uint64_t sample_bytes() const { return sample_bytes_; }
  const std::vector<std::string>& field_names() const { return field_names_; }

 private:
  std::uint16_t name_number(std::string_view name);
  void end_block();

  /// The bytes of several blocks, one after the other.
  struct Blocks {
    std::vector<std::uint8_t> bytes;
    std::vector<std::size_t> ends;
  };

  IndexBlockBuilder block_;
  Blocks rows_, entry_points_;
  std::vector<std::string> field_names_;
  std::vector<std::uint16_t> names_;  // of the row at hand
  Fingerprint fingerprint_;
  std::uint64_t sample_bytes_ = 0;
  bool has_checksums_ = true, has_crc32_ = true, was_decoded_ = true;
  std::uint64_t end_ = 0;  // of the field that ends last, and its sample's key
  std::string last_key_;
};

}  // namespace stoker
