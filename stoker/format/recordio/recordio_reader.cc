#include "stoker/format/recordio/recordio_reader.h"

#include <fmt/format.h>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"

namespace stoker {

std::string RecordIoReader::place() const { return fmt::format("record {} at byte {}", number_, begin_); }

void RecordIoReader::fail_truncated(std::uint64_t needed, std::uint64_t part_begin) const {
  fail(ErrorKind::kData, "'{}' is truncated: a part of {} needs {}, and {} are left", source_.name(), place(),
       byte_count(needed), source_.size() - part_begin);
}

RecordIoReader::Part RecordIoReader::read_part() {
  const std::uint64_t begin = bytes_.position();
  if (bytes_.left() < kRecordIoHeaderBytes) fail_truncated(kRecordIoHeaderBytes, begin);
  const Bytes header = bytes_.take(kRecordIoHeaderBytes);
  if (load_little_endian<std::uint32_t>(header.data()) != kRecordIoMagic) {
    fail(ErrorKind::kData, "'{}' is damaged: {} does not continue with RecordIO's magic number at byte {}",
         source_.name(), place(), begin);
  }
  const auto word = load_little_endian<std::uint32_t>(header.data() + 4);
  const std::size_t length = word & kRecordIoPartBytesMax;
  const std::uint32_t part = word >> kRecordIoLengthBits;
  if (part > static_cast<std::uint32_t>(Part::kLast)) {
    fail(ErrorKind::kData, "'{}' is damaged: {} has a part of the unknown kind {} at byte {}", source_.name(), place(),
         part, begin);
  }
  const std::size_t padded = (length + 3) / 4 * 4;
  if (padded > bytes_.left()) fail_truncated(kRecordIoHeaderBytes + padded, begin);
  part_ = bytes_.take(padded).first(length);
  return static_cast<Part>(part);
}

bool RecordIoReader::next() {
  if (bytes_.left() == 0) return false;
  ++number_;
  begin_ = bytes_.position();
  offset_ = begin_ + kRecordIoHeaderBytes;
  Part part = read_part();
  is_split_ = part != Part::kAll;
  if (!is_split_) {
    data_ = part_;
    return true;
  }
  joined_.clear();
  for (Part wanted = Part::kFirst;; part = read_part(), wanted = Part::kMiddle) {
    const bool continues = wanted == Part::kMiddle && (part == Part::kMiddle || part == Part::kLast);
    if (!continues && part != wanted) {
      fail(ErrorKind::kData, "'{}' is damaged: {} is split, and its parts are not in order", source_.name(), place());
    }
    if (wanted == Part::kMiddle) append_little_endian(joined_, kRecordIoMagic);
    if (part_.size() > kRecordBytesMax - joined_.size()) {
      fail(ErrorKind::kData, "'{}': {} has more than {} bytes, which Stoker does not read", source_.name(), place(),
           kRecordBytesMax);
    }
    joined_.insert(joined_.end(), part_.begin(), part_.end());
    if (part == Part::kLast) break;
  }
  data_ = joined_;
  return true;
}

}  // namespace stoker
