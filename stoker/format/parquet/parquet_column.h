// Reads one column chunk, page by page, and locates its values in the file.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/format/parquet/parquet_footer.h"
#include "stoker/format/parquet/parquet_page.h"
#include "stoker/format/parquet/parquet_values.h"
#include "stoker/format/sequential_reader.h"
#include "stoker/storage/block_source.h"
#include "stoker/storage/packed_integers.h"

namespace stoker {

/// What the pages that a scan holds at a time, of all columns, may take of memory.
class PageMemory {
 public:
  explicit PageMemory(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  /// Throws kLimit, as a clause that says so, if that would be more.
  void charge(std::uint64_t bytes);
  void release(std::uint64_t bytes) { bytes_ -= bytes; }

 private:
  std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;
};

/// Charged memory, released with it.
class ChargedPage {
 public:
  explicit ChargedPage(PageMemory& memory) : memory_(memory) {}
  ~ChargedPage() { memory_.release(bytes_); }
  ChargedPage(const ChargedPage&) = delete;
  ChargedPage& operator=(const ChargedPage&) = delete;

  /// In place of what it was.
  void charge(std::uint64_t bytes);

 private:
  PageMemory& memory_;
  std::uint64_t bytes_ = 0;
};

/// What column readers of a scan share.
struct ParquetScan {
  Source& file;
  PageMemory memory;
  BlockPlaces& places;                                     // of pages that are compressed
  std::size_t read_bytes = SequentialReader::kBlockBytes;  // how much of a chunk is read at a time
};

/// One entry of a column: a value, or the mark of one that is not there.
struct ParquetEntry {
  std::uint32_t definition = 0;
  std::optional<ParquetValue> value{};  // none of a null or an empty list
};

/// What one page has of a list of numbers.
struct ParquetNumbers {
  std::uint64_t offset = 0;  // of the first, as ParquetColumnReader::offset() has it
  std::uint64_t count = 0;
  bool has_null = false;   // among them
  bool page_ends = false;  // with them
};

/// Threads: one. All calls throw kData and kLimit naming the file, the column and the page, and what the file throws.
class ParquetColumnReader {
 public:
  /// All must outlive it.
  ParquetColumnReader(ParquetScan& scan, const ParquetColumn& column, const ParquetChunk& chunk);
  ParquetColumnReader(const ParquetColumnReader&) = delete;
  ParquetColumnReader& operator=(const ParquetColumnReader&) = delete;

  const ParquetColumn& column() const { return column_; }
  /// Whether all entries were taken.
  bool ended() const { return left_ == 0; }
  /// Whether the next entry belongs to another row than the last; also at the end. Values taken before cannot be looked
  /// at any more.
  bool begins_row();
  /// The next entry, of which there must be one. What it shows lives until the next call.
  ParquetEntry next();
  /// Of a column of lists of numbers: what the page has of the next list, or of one that goes on in it. There must be
  /// an entry.
  ParquetNumbers next_numbers();
  /// The bytes of the last `count` numbers of a page that has ended with them, before anything else is asked for.
  void append_last_numbers(std::uint64_t count, std::vector<std::uint8_t>& bytes);
  /// Where in the file the bytes of the value lie that was taken last, or beyond its end, in a compressed block or in
  /// what packed values become. The value must lie somewhere.
  std::uint64_t offset(const ParquetValue& value);

 private:
  /// Bytes of the file, as they are or decompressed.
  struct Body {
    Bytes bytes{};
    std::uint64_t begin = 0;                   // in the file, of those that are stored as they are
    std::optional<CompressedBlock> block{};    // of the others
    std::optional<std::uint64_t> placed_at{};  // of that, once a value of it was located
    std::vector<std::uint8_t> memory{};

    /// Also of bytes that are stored as they are.
    CompressedBlock as_block() const {
      return block.value_or(CompressedBlock{.offset = begin, .stored_length = bytes.size(), .length = bytes.size()});
    }
  };

  void see_next();
  void load_page();
  void load_dictionary(const ParquetPageHeader& header, std::uint64_t begin, Bytes stored);
  void load_values(const ParquetPageHeader& header, std::uint64_t begin, Bytes stored);
  /// `length`: once decompressed.
  void unpack(Body& body, bool is_compressed, std::uint64_t begin, Bytes stored, std::uint64_t length) const;
  static Bytes take_levels(bool are_run_lengths, Bytes body, std::size_t& at);
  std::uint64_t place(Body& body) const;
  PackedValues packed_values();
  std::uint64_t place_of_unpacked();
  void take_entry();
  template <typename Work>
  auto with_place(const Work& work);

  ParquetScan& scan_;
  const ParquetColumn& column_;
  BlockCodec codec_ = BlockCodec::kStored;
  SequentialReader bytes_;
  std::uint64_t left_;         // entries of the chunk
  std::uint64_t page_at_ = 0;  // where the page begins
  std::uint32_t page_left_ = 0;
  ChargedPage page_charge_, dictionary_charge_, unpacked_charge_;
  Body page_, dictionary_body_;
  std::optional<ParquetDictionary> dictionary_;
  std::optional<std::size_t> dictionary_number_;  // among the blocks, once packed values need it
  std::size_t values_at_ = 0;                     // in the page's body
  std::optional<std::uint64_t> unpacked_at_;      // of its packed values, once one was located
  RunLengthReader repetitions_, definitions_;
  RunLengthReader all_definitions_;  // of the page, from its first value on
  std::uint32_t page_values_ = 0;    // nulls counted
  ParquetValues values_;
  bool has_next_ = false;  // its levels are known
  std::uint32_t repetition_ = 0, definition_ = 0;
};

}  // namespace stoker
