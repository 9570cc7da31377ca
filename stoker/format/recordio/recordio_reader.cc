#include "stoker/format/recordio/recordio_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"

namespace stoker {

std::string RecordIoReader::place() const { return fmt::format("record {} at byte {}", number_, begin_); }

void RecordIoReader::fail_truncated(std::uint64_t needed, std::uint64_t part_begin) const {
  fail(ErrorKind::kData, "'{}' is truncated: a part of {} needs {}, and {} are left", source_.name(), place(),
       byte_count(needed), source_.size() - part_begin);
}

RecordIoReader::Part RecordIoReader::find_part() {
  const std::uint64_t begin = position_, left = bytes_.size() - begin;
  if (left < kRecordIoHeaderBytes) fail_truncated(kRecordIoHeaderBytes, begin);
  const Bytes header = bytes_.read(begin, kRecordIoHeaderBytes);
  if (load_little_endian<std::uint32_t>(header.data()) != kRecordIoMagic) {
    fail(ErrorKind::kData, "'{}' is damaged: {} does not continue with RecordIO's magic number at byte {}",
         source_.name(), place(), begin);
  }
  const auto word = load_little_endian<std::uint32_t>(header.data() + 4);
  part_bytes_ = word & kRecordIoPartBytesMax;
  part_begin_ = begin + kRecordIoHeaderBytes;
  const std::uint32_t part = word >> kRecordIoLengthBits;
  if (part > static_cast<std::uint32_t>(Part::kLast)) {
    fail(ErrorKind::kData, "'{}' is damaged: {} has a part of the unknown kind {} at byte {}", source_.name(), place(),
         part, begin);
  }
  const std::size_t padded = (part_bytes_ + 3) / 4 * 4;
  if (padded > left - kRecordIoHeaderBytes) fail_truncated(kRecordIoHeaderBytes + padded, begin);
  position_ = part_begin_ + padded;
  return static_cast<Part>(part);
}

bool RecordIoReader::next() {
  if (position_ == bytes_.size()) return false;
  ++number_;
  begin_ = position_;
  offset_ = begin_ + kRecordIoHeaderBytes;
  const Part part = find_part();
  is_split_ = part != Part::kAll;
  if (is_split_) join_parts(part);
  length_ = is_split_ ? joined_.size() : part_bytes_;
  return true;
}

void RecordIoReader::join_parts(Part part) {
  joined_.clear();
  for (Part wanted = Part::kFirst;; part = find_part(), wanted = Part::kMiddle) {
    const bool continues = wanted == Part::kMiddle && (part == Part::kMiddle || part == Part::kLast);
    if (!continues && part != wanted) {
      fail(ErrorKind::kData, "'{}' is damaged: {} is split, and its parts are not in order", source_.name(), place());
    }
    if (wanted == Part::kMiddle) append_little_endian(joined_, kRecordIoMagic);
    if (part_bytes_ > kRecordBytesMax - joined_.size()) {
      fail(ErrorKind::kData, "'{}': {} has more than {} bytes, which Stoker does not read", source_.name(), place(),
           kRecordBytesMax);
    }
    const Bytes bytes = bytes_.read(part_begin_, part_bytes_);
    joined_.insert(joined_.end(), bytes.begin(), bytes.end());
    if (part == Part::kLast) break;
  }
}

Bytes RecordIoReader::head(std::size_t count) {
  count = std::min(count, length_);
  return is_split_ ? Bytes(joined_).first(count) : bytes_.read(offset_, count);
}

}  // namespace stoker
