// A block of an index: the rows of up to 256 consecutive samples as columns, and their texts; docs/format-index.md has
// the bytes. An index is read, checked and cached by blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/format/sample_row.h"

namespace stoker {

inline constexpr std::int64_t kRowsPerBlock = 256;

/// Collects rows and writes them as a block.
class IndexBlockBuilder {
 public:
  /// `names` holds the number of each field's name, in the order of the row's fields. The row's own
  /// entry points are not looked at.
  void add(const SampleRow& row, std::span<const std::uint16_t> names, std::size_t entry_points_bytes = 0);
  std::int64_t rows() const { return static_cast<std::int64_t>(labels_.size()); }
  /// Appends the block's bytes; the builder is empty after that.
  void take(std::vector<std::uint8_t>& into);

 private:
  std::vector<std::int64_t> labels_;
  std::vector<std::uint32_t> key_ends_, field_ends_, entry_points_ends_, widths_, heights_;
  std::vector<std::uint8_t> codecs_, components_, bits_, orientations_, chroma_, codings_, colors_, soundness_;
  std::vector<std::uint64_t> offsets_, lengths_;
  std::vector<std::uint32_t> crcs_, chunk_ends_, chunk_crcs_;
  std::vector<std::uint16_t> names_;
  std::string keys_;
};

/// What a row may say at most, for one that lies.
struct IndexLimits {
  std::size_t names = 0;         // field names of the index
  std::uint64_t data_bytes = 0;  // of the shard
  bool has_checksums = false;
  std::uint64_t entry_points_bytes = 0;  // of this block's samples
};

/// A block's bytes, checked once: whatever they are, reading rows never leaves them.
class IndexBlock {
 public:
  IndexBlock() = default;
  /// The bytes stay the caller's. Throws kData for bytes that are no block of `rows` rows within the limits.
  IndexBlock(Bytes bytes, std::int64_t rows, const IndexLimits& limits);

  std::int64_t rows() const { return rows_; }
  /// Replaces all of `into`; its sources are the data set's to fill in, and its entry points are counted from the first
  /// of those of the block's samples.
  void read(std::int64_t row, std::span<const std::string> names, SampleRow& into) const;

 private:
  template <typename Integer>
  Integer at(const std::uint8_t* column, std::size_t i) const;
  void check(const IndexLimits& limits) const;

  std::int64_t rows_ = 0;
  std::uint32_t fields_ = 0, chunks_ = 0, text_bytes_ = 0;
  bool has_checksums_ = false;
  const std::uint8_t *labels_ = nullptr, *key_ends_ = nullptr, *field_ends_ = nullptr, *widths_ = nullptr,
                     *heights_ = nullptr, *entry_points_ends_ = nullptr, *codecs_ = nullptr, *components_ = nullptr,
                     *bits_ = nullptr, *orientations_ = nullptr, *chroma_ = nullptr, *codings_ = nullptr,
                     *colors_ = nullptr, *soundness_ = nullptr, *offsets_ = nullptr, *lengths_ = nullptr,
                     *crcs_ = nullptr, *names_ = nullptr, *chunk_ends_ = nullptr, *chunk_crcs_ = nullptr,
                     *text_ = nullptr;
};

}  // namespace stoker
