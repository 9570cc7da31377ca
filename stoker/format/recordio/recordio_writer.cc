#include "stoker/format/recordio/recordio_writer.h"

#include <cassert>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/recordio/image_record.h"
#include "stoker/format/recordio/recordio_reader.h"

namespace stoker {

void RecordIoWriter::append_part(std::uint32_t kind, Bytes part) {
  append_little_endian(framed_, kRecordIoMagic);
  append_little_endian(framed_, kind << kRecordIoLengthBits | static_cast<std::uint32_t>(part.size()));
  framed_.insert(framed_.end(), part.begin(), part.end());
  framed_.resize((framed_.size() + 3) / 4 * 4);
}

RecordIoWriter::Record RecordIoWriter::add(Bytes data) {
  if (data.size() > kRecordIoPartBytesMax) {
    fail(ErrorKind::kLimit, "as a record it has {} bytes; RecordIO has records of up to {}", data.size(),
         kRecordIoPartBytesMax);
  }
  framed_.clear();
  std::size_t begin = 0;  // of the part
  for (std::size_t at = 0; at + 4 <= data.size(); at += 4) {
    if (load_little_endian<std::uint32_t>(data.data() + at) != kRecordIoMagic) continue;
    append_part(begin == 0 ? 1 : 2, data.subspan(begin, at - begin));
    begin = at + 4;
  }
  append_part(begin == 0 ? 0 : 3, data.subspan(begin));
  const Record record{.begin = bytes_, .is_split = begin != 0};
  object_->write(framed_);
  hasher_.update(framed_);
  bytes_ += framed_.size();
  return record;
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
