// Steps through the records of a RecordIO file, as MXNet's recordio and im2rec write it. Numbers are little-endian:
//
//   u32  kRecordIoMagic
//   u32  3 bits that say which part of a record this is: 0 all of it, 1 the first, 2 a middle one, 3 the last;
//        29 bits of the part's length
//        the part
//        zeros, to a multiple of 4 bytes
//
// Where a record's own bytes hold the magic number, at a multiple of 4, the writer ends a part and leaves the number
// out. Nothing has a checksum.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/format/ascending_reader.h"

namespace stoker {

inline constexpr std::uint32_t kRecordIoMagic = 0xced7230a;
inline constexpr std::size_t kRecordIoHeaderBytes = 8;
inline constexpr unsigned kRecordIoLengthBits = 29;
inline constexpr std::size_t kRecordIoPartBytesMax = (std::size_t{1} << kRecordIoLengthBits) - 1;

class RecordIoReader {
 public:
  /// What a record in several parts may take of memory.
  static constexpr std::uint64_t kRecordBytesMax = std::uint64_t{1} << 30;

  /// The source must outlive the reader.
  explicit RecordIoReader(Source& source) : source_(source), bytes_(source) {}

  /// Goes to the next record; false at the end of the file. Throws kData naming the file and the record when it is
  /// damaged, truncated or longer than kRecordBytesMax; and what the source throws.
  bool next();

  /// The bytes of the record at hand, as it was before it was split.
  std::size_t length() const { return length_; }
  /// The first `count` of them, or all if there are fewer: until this or next() is called again. Of a record that was
  /// not split only these are read.
  Bytes head(std::size_t count);
  /// Whether it was split, so that its data are not a range of the file.
  bool is_split() const { return is_split_; }
  /// Where in the file its data begin.
  std::uint64_t offset() const { return offset_; }
  /// "record 17 at byte 4096".
  std::string place() const;

 private:
  enum class Part : std::uint32_t { kAll = 0, kFirst = 1, kMiddle = 2, kLast = 3 };

  /// Goes past a part and its padding.
  Part find_part();
  void join_parts(Part part);
  [[noreturn]] void fail_truncated(std::uint64_t needed, std::uint64_t part_begin) const;

  Source& source_;
  AscendingReader bytes_;
  std::vector<std::uint8_t> joined_;  // the data of a record that was split
  bool is_split_ = false;
  std::size_t part_bytes_ = 0, length_ = 0;
  std::uint64_t begin_ = 0, offset_ = 0, part_begin_ = 0, position_ = 0;
  std::int64_t number_ = -1;
};

}  // namespace stoker
