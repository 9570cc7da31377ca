// Writes Parquet files as Hugging Face's `datasets` does: plain pages that are not compressed, so that each value is a
// range of the file, in row groups of bounded size.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/hash.h"
#include "stoker/format/parquet/parquet_footer.h"
#include "stoker/storage/object_writer.h"

namespace stoker {

class ThriftWriter;

/// A leaf of the schema, whose values may be missing.
struct ParquetLeaf {
  std::string group{};  // that it lies in, beside the leaves before and after it of the same group; empty: none
  std::string name{};
  ParquetType type = ParquetType::kByteArray;
  bool is_text = false;  // its byte arrays are UTF-8

  std::string path() const { return group.empty() ? name : group + '.' + name; }
  /// A value that is there has this level; in a group, one that is not has the level below.
  std::uint32_t definition_max() const { return group.empty() ? 1 : 2; }
};

struct ParquetWriterLimits {
  std::size_t rows = 1000;                              // of a row group
  std::uint64_t group_bytes = std::uint64_t{32} << 20;  // after which it ends
  std::uint64_t page_bytes = std::uint64_t{1} << 20;    // the same of a page
};

/// One column of one row group in the making: pages, and where in them the values lie.
class ParquetChunkBuilder {
 public:
  explicit ParquetChunkBuilder(const ParquetLeaf& leaf) : leaf_(leaf) {}

  /// None: a null. `is_in_group`: whether the group that the leaf lies in is there.
  void add(std::optional<Bytes> value, bool is_in_group);
  void end_page();
  /// Bytes of the page at hand, without its header.
  std::uint64_t page_bytes() const { return levels_.size() + values_.size(); }
  /// Bytes of the chunk, with the page at hand and room for its header.
  std::uint64_t bytes() const;
  std::uint64_t values() const { return offsets_.size(); }
  /// Of the row's value from the beginning of the chunk; once its page has ended.
  std::uint64_t offset_of(std::size_t row) const { return offsets_[row]; }
  /// Pages that have ended and were not taken.
  std::vector<std::uint8_t> take_pages();
  /// For the next row group.
  void clear();

  static constexpr std::uint64_t kPageHeaderBytesMax = 48;

 private:
  void end_run();

  const ParquetLeaf& leaf_;
  std::vector<std::uint8_t> pages_, levels_, values_;
  std::uint64_t taken_ = 0;             // bytes of pages
  std::uint32_t level_ = 0, run_ = 0;   // of the run at hand
  std::size_t page_row_ = 0;            // where the page at hand begins
  std::vector<std::uint64_t> offsets_;  // by row; of the page at hand from where its values begin
};

/// The file takes its name in finish(), whole and lasting; a writer destroyed before that leaves nothing. Threads: one
/// at a time. All calls throw kIo naming the object.
class ParquetWriter {
 public:
  /// `huggingface`: the JSON text for the footer. Pages of the first leaf are written as they end, those of the others
  /// are held until their row group ends.
  ParquetWriter(std::unique_ptr<ObjectWriter> object, std::vector<ParquetLeaf> leaves, std::string huggingface,
                const ParquetWriterLimits& limits = {});

  const std::vector<ParquetLeaf>& leaves() const { return leaves_; }
  /// Adds a row, values of all leaves as PLAIN has them without their lengths. Returns whether its row group ended:
  /// then offset_of() tells where the values of the group's rows lie, until the next row.
  bool add(std::span<const std::optional<Bytes>> values);
  /// Ends the row group, if it has rows.
  void end_group();
  std::uint64_t offset_of(std::size_t row_in_group, std::size_t leaf) const;
  /// At least what the file would have if it ended here, or after a row without values.
  std::uint64_t bytes() const;
  /// What the file has once it is finished, after the last row group was ended, and its XXH3-64.
  struct Finished {
    std::uint64_t bytes = 0, hash = 0;
  };
  Finished finish();

 private:
  struct Chunk {
    std::uint64_t begin = 0, bytes = 0;
  };
  struct Group {
    std::uint64_t rows = 0;
    std::vector<Chunk> chunks;
  };

  void write(Bytes bytes);
  bool is_in_group(std::size_t leaf, std::span<const std::optional<Bytes>> values) const;
  void write_schema(ThriftWriter& footer) const;
  void write_group(ThriftWriter& footer, const Group& group) const;
  std::string footer() const;

  std::unique_ptr<ObjectWriter> object_;
  const std::vector<ParquetLeaf> leaves_;
  const std::string huggingface_;
  const ParquetWriterLimits limits_;
  std::vector<ParquetChunkBuilder> builders_;  // by leaf
  std::vector<Group> groups_;
  std::uint64_t rows_ = 0, group_rows_ = 0, group_begin_ = 0;
  bool group_has_ended_ = false;  // and its places are still asked for
  std::uint64_t written_ = 0;
  std::uint64_t footer_bytes_ = 0, group_footer_bytes_ = 0;  // without row groups; of each of them, at most
  Hasher64 hasher_;
};

}  // namespace stoker
