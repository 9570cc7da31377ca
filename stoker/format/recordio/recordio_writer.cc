#include "stoker/format/recordio/recordio_writer.h"

#include <array>
#include <cassert>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/recordio/image_record.h"
#include "stoker/format/recordio/recordio_reader.h"

namespace stoker {

void RecordIoWriter::write(Bytes bytes) {
  object_->write(bytes);
  hasher_.update(bytes);
  bytes_ += bytes.size();
}

void RecordIoWriter::write_part(std::uint32_t kind, Bytes part) {
  std::array<std::uint8_t, kRecordIoHeaderBytes> header;
  store_little_endian(header.data(), kRecordIoMagic);
  store_little_endian(header.data() + 4, kind << kRecordIoLengthBits | static_cast<std::uint32_t>(part.size()));
  write(header);
  write(part);
  constexpr std::array<std::uint8_t, 3> kZeros{};
  write(Bytes(kZeros).first((4 - part.size() % 4) % 4));
}

RecordIoWriter::Record RecordIoWriter::add(Bytes data) {
  if (data.size() > kRecordIoPartBytesMax) {
    fail(ErrorKind::kLimit, "as a record it has {} bytes; RecordIO has records of up to {}", data.size(),
         kRecordIoPartBytesMax);
  }
  std::array<std::uint8_t, 4> magic;
  store_little_endian(magic.data(), kRecordIoMagic);
  const Record record{.begin = bytes_, .is_split = false};
  std::size_t begin = 0;  // of the part
  for (std::size_t at = 0; at + 4 <= data.size(); at += 4) {
    if (load_little_endian<std::uint32_t>(data.data() + at) != kRecordIoMagic) continue;
    write_part(begin == 0 ? 1 : 2, data.subspan(begin, at - begin));
    begin = at + 4;
  }
  write_part(begin == 0 ? 0 : 3, data.subspan(begin));
  return {.begin = record.begin, .is_split = begin != 0};
}

void make_image_record(std::vector<std::uint8_t>& record, std::uint64_t id, Bytes labels, Bytes image) {
  assert(!labels.empty() && labels.size() % sizeof(float) == 0);
  const bool is_one = labels.size() == sizeof(float);
  record.clear();
  append_little_endian(record, static_cast<std::uint32_t>(is_one ? 0 : labels.size() / sizeof(float)));
  append_little_endian(record, is_one ? load_little_endian<std::uint32_t>(labels.data()) : std::uint32_t{0});
  append_little_endian(record, id);
  append_little_endian(record, std::uint64_t{0});
  if (!is_one) record.insert(record.end(), labels.begin(), labels.end());
  record.insert(record.end(), image.begin(), image.end());
}

}  // namespace stoker
