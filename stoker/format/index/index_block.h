// A block of an index: the rows of up to 256 consecutive samples as columns, and their texts; docs/format-index.md has
// the bytes. An index is read, checked and cached by blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/sample_row.h"

namespace stoker {

inline constexpr std::int64_t kRowsPerBlock = 256;

/// The columns of a block, each a Column<Integer>.
template <template <typename> class Column>
struct IndexColumns {
  Column<std::int64_t> labels{};
  Column<std::uint32_t> key_ends{}, field_ends{}, widths{}, heights{}, entry_points_ends{};
  Column<std::uint8_t> codecs{}, components{}, bits{}, orientations{}, chroma{}, codings{}, colors{}, soundness{};
  Column<std::uint64_t> offsets{}, lengths{};
  Column<std::uint32_t> crcs{}, chunk_ends{};
  Column<std::uint16_t> names{};
  Column<std::uint32_t> chunk_crcs{};

  /// Calls each of them in the order in which they stand: of rows, of fields, and of fields' chunks.
  template <typename OfRows, typename OfFields, typename OfChunks>
  void for_each(OfRows rows, OfFields fields, OfChunks chunks) {
    const auto call = [](auto work, auto&... columns) { (work(columns), ...); };
    call(rows, labels, key_ends, field_ends, widths, heights, entry_points_ends, codecs, components, bits, orientations,
         chroma, codings, colors, soundness);
    call(fields, offsets, lengths, crcs, chunk_ends, names);
    call(chunks, chunk_crcs);
  }
};

/// Collects rows and writes them as a block.
class IndexBlockBuilder {
 public:
  /// `names` holds the number of each field's name, in the order of the row's fields. The row's own
  /// entry points are not looked at.
  void add(const SampleRow& row, std::span<const std::uint16_t> names, std::size_t entry_points_bytes = 0);
  std::int64_t rows() const { return static_cast<std::int64_t>(columns_.labels.size()); }
  /// Appends the block's bytes; the builder is empty after that.
  void take(std::vector<std::uint8_t>& into);

 private:
  template <typename Integer>
  using Written = std::vector<Integer>;

  IndexColumns<Written> columns_;
  std::string keys_;
};

/// What a row may say at most, for one that lies.
struct IndexLimits {
  std::size_t names = 0;         // field names of the index
  std::uint64_t data_bytes = 0;  // of the shard
  bool has_checksums = false, has_crc32 = false;
  std::uint64_t entry_points_bytes = 0;  // of this block's samples
};

/// A block's bytes, checked once: whatever they are, reading rows never leaves them.
class IndexBlock {
 public:
  IndexBlock() = default;
  /// The bytes stay the caller's. Throws kData for bytes that are not a block of `rows` rows within the limits.
  IndexBlock(Bytes bytes, std::int64_t rows, const IndexLimits& limits);

  std::int64_t rows() const { return rows_; }
  /// Replaces all of `into`; its sources are the data set's to fill in, and its entry points are counted from the first
  /// of those of the block's samples.
  void read(std::int64_t row, std::span<const std::string> names, SampleRow& into) const;

 private:
  /// Numbers among the block's bytes.
  template <typename Integer>
  struct Stored {
    const std::uint8_t* first = nullptr;

    Integer operator[](std::size_t i) const { return load_little_endian<Integer>(first + i * sizeof(Integer)); }
    /// Where the i-th begins, of a column of ends.
    Integer begin_of(std::size_t i) const { return i == 0 ? 0 : (*this)[i - 1]; }
  };

  void check_rows(const IndexLimits& limits) const;
  void check_fields(const IndexLimits& limits) const;
  void check_sums() const;

  std::int64_t rows_ = 0;
  std::uint32_t fields_ = 0, chunks_ = 0, text_bytes_ = 0;
  bool has_checksums_ = false, has_crc32_ = false;
  IndexColumns<Stored> columns_;
  const std::uint8_t* text_ = nullptr;
};

}  // namespace stoker
