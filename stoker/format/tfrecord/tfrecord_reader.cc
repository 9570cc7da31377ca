#include "stoker/format/tfrecord/tfrecord_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/tfrecord/tfrecord_frame.h"

namespace stoker {

bool is_gzip(Bytes beginning) {
  return beginning.size() >= 3 && beginning[0] == 0x1f && beginning[1] == 0x8b && beginning[2] == 8;
}

bool is_zlib(Bytes beginning) {
  // Method 8 with a window of 32 KiB, and a check that makes the two bytes a multiple of 31.
  return beginning.size() >= 2 && beginning[0] == 0x78 && (beginning[0] * 256 + beginning[1]) % 31 == 0;
}

void require_uncompressed(Bytes beginning, const std::string& file) {
  const bool gzip = is_gzip(beginning);
  if (!gzip && !is_zlib(beginning)) return;
  fail(ErrorKind::kData,
       "'{}' is compressed as a whole ({}), so it can only be read from its beginning to its end, while Stoker reads "
       "samples at random; decompress it first: `{} < '{}' > NEW.tfrecord`",
       file, gzip ? "gzip" : "zlib", gzip ? "gzip -dc" : "zlib-flate -uncompress", file);
}

std::string TfRecordReader::place() const { return fmt::format("record {} at byte {}", number_, begin_); }

void TfRecordReader::fail_truncated(std::uint64_t needed) const {
  fail(ErrorKind::kData, "'{}' is truncated: {} needs {}, and {} are left", source_.name(), place(), byte_count(needed),
       source_.size() - begin_);
}

std::uint64_t TfRecordReader::read_length() {
  if (bytes_.left() < kTfRecordHeaderBytes) {
    if (number_ == 0) require_uncompressed(bytes_.take(static_cast<std::size_t>(bytes_.left())), source_.name());
    fail_truncated(kTfRecordHeaderBytes);
  }
  const Bytes header = bytes_.take(kTfRecordHeaderBytes);
  const std::optional<std::uint64_t> length = read_tfrecord_header(header);
  if (length) return *length;
  if (number_ == 0) require_uncompressed(header, source_.name());
  fail(ErrorKind::kData, "'{}' is damaged: the checksum of the length of {} does not match", source_.name(), place());
}

bool TfRecordReader::next() {
  data_ = {};
  if (bytes_.left() == 0) return false;
  ++number_;
  begin_ = bytes_.position();
  const std::uint64_t length = read_length();
  offset_ = bytes_.position();
  const std::uint64_t left = bytes_.left();
  if (left < kTfRecordFooterBytes || length > left - kTfRecordFooterBytes) {
    // A length that no file has is told as such, not as a sum that overflows.
    constexpr std::uint64_t kFrame = kTfRecordHeaderBytes + kTfRecordFooterBytes;
    fail_truncated(std::max(length, length + kFrame));
  }
  if (length > kRecordBytesMax) {
    fail(ErrorKind::kData, "'{}': {} has {}; Stoker reads records of up to {}", source_.name(), place(),
         byte_count(length), kRecordBytesMax);
  }
  const Bytes all = bytes_.take(static_cast<std::size_t>(length) + kTfRecordFooterBytes);
  data_ = all.first(static_cast<std::size_t>(length));
  if (masked_crc32c(data_) != load_little_endian<std::uint32_t>(all.data() + length)) {
    fail(ErrorKind::kData, "'{}' is damaged: the checksum of {} does not match", source_.name(), place());
  }
  return true;
}

}  // namespace stoker
