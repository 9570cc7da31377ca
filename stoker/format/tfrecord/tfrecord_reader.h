// Steps through the records of a TFRecord file and checks both checksums of each.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/format/sequential_reader.h"

namespace stoker {

class TfRecordReader {
 public:
  /// More than TensorFlow can write as one message, and what a record may take of memory.
  static constexpr std::uint64_t kRecordBytesMax = std::uint64_t{1} << 30;

  /// The source must outlive the reader.
  explicit TfRecordReader(Source& source) : source_(source), bytes_(source) {}

  /// Goes to the next record; false at the end of the file. Throws kData naming the file and the record when it is
  /// damaged, truncated or longer than kRecordBytesMax, or when the file is compressed; and what the source throws.
  bool next();

  /// The record at hand: until next() is called again.
  Bytes data() const { return data_; }
  /// Where in the file its data begin.
  std::uint64_t offset() const { return offset_; }
  /// Its number, from 0.
  std::int64_t number() const { return number_; }
  /// "record 17 at byte 4096", where byte 4096 is that of its frame.
  std::string place() const;

 private:
  std::uint64_t read_length();
  [[noreturn]] void fail_truncated(std::uint64_t needed) const;

  Source& source_;
  SequentialReader bytes_;
  Bytes data_;
  std::uint64_t begin_ = 0, offset_ = 0;
  std::int64_t number_ = -1;
};

/// Throws kData if the file, which begins so, is compressed as a whole: says how to decompress it.
void require_uncompressed(Bytes beginning, const std::string& file);

/// Whether a file begins as one that is compressed by gzip, or by zlib as TensorFlow's option "ZLIB" does it.
bool is_gzip(Bytes beginning);
bool is_zlib(Bytes beginning);

}  // namespace stoker
