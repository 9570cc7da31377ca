#include "stoker/format/recordio/recordio_format.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/image_bytes.h"
#include "stoker/format/recordio/image_record.h"
#include "stoker/format/recordio/recordio_shard_writer.h"

namespace stoker {

bool RecordIoFormat::recognises(const ShardCandidate& shard) const {
  if (shard.is_folder()) return false;
  if (shard.name().ends_with(".rec")) return true;
  const Bytes head = shard.head();
  return head.size() >= kRecordIoHeaderBytes && load_little_endian<std::uint32_t>(head.data()) == kRecordIoMagic;
}

std::unique_ptr<ShardScan> RecordIoFormat::scan(Source& shard, const std::stop_token& stop) const {
  return std::make_unique<RecordIoSamples>(shard, stop);
}

const WritableFormat* RecordIoFormat::writing() const {
  static const RecordIoWriting writing;
  return &writing;
}

RecordIoSamples::RecordIoSamples(Source& source, std::stop_token stop)
    : source_(source),
      places_(source),
      stop_(std::move(stop)),
      records_(source),
      key_prefix_(recordio_key_prefix(source.name())) {}

bool RecordIoSamples::next(SampleRow& row) {
  for (;; ++without_bytes_) {
    row.clear();
    row.source = &places_.source();
    stop_if_asked(stop_, source_.name());
    if (!records_.next()) return false;
    const std::size_t length = records_.length();
    const std::optional<ImageRecord> record = read_image_record(records_.head(kImageHeaderBytes), length);
    if (!record) fail_without_header();
    if (record->image_at == length) continue;  // it tells of other records, as the first of a set of faces does
    const std::uint64_t offset = offset_of_record();
    fill_image_row(records_.head(record->image_at + kImageBeginningBytes), length, *record, offset, key_prefix_, row);
    return true;
  }
}

void RecordIoSamples::fail_without_header() {
  const std::size_t length = records_.length();
  if (length < kImageHeaderBytes) {
    fail(ErrorKind::kData, "'{}': {} has {}, and no header of an image", source_.name(), records_.place(),
         byte_count(length));
  }
  fail(ErrorKind::kData, "'{}': {} has {}, which cannot hold its {} labels", source_.name(), records_.place(),
       byte_count(length), load_little_endian<std::uint32_t>(records_.head(kImageHeaderBytes).data() + kImageFlagAt));
}

/// Where its data lie: of one that was split, in a copy.
std::uint64_t RecordIoSamples::offset_of_record() {
  if (!records_.is_split()) return records_.offset();
  const Bytes data = records_.head(records_.length());
  if (data.size() > kCopiesBytesMax - copied_bytes_) {
    fail(ErrorKind::kLimit,
         "'{}': so many records hold RecordIO's magic number and were split for it that copies of them take more than "
         "{}; the last is {}",
         source_.name(), byte_count(kCopiesBytesMax), records_.place());
  }
  copied_bytes_ += data.size();
  return places_.add_copy(data);
}

ShardNotes RecordIoSamples::take_notes() {
  ShardNotes notes{.blocks = places_.take()};
  if (without_bytes_ > 0) {
    notes.problems.push_back(
        fmt::format("'{}': skips {} without an image", source_.name(), counted(without_bytes_, "record")));
  }
  return notes;
}

}  // namespace stoker
