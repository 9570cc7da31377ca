#include "stoker/format/recordio/recordio_format.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/recordio/image_record.h"
#include "stoker/format/recordio/recordio_shard_writer.h"

namespace stoker {
namespace {

/// A source that is the caller's.
std::shared_ptr<Source> borrowed(Source& source) { return {std::shared_ptr<Source>(), &source}; }

}  // namespace

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
    : source_(borrowed(source)),
      stop_(std::move(stop)),
      records_(source),
      key_prefix_(recordio_key_prefix(source.name())) {}

bool RecordIoSamples::next(SampleRow& row) {
  for (;; ++without_bytes_) {
    row.clear();
    row.source = &source_;
    stop_if_asked(stop_, source_.name());
    if (!records_.next()) return false;
    const Bytes data = records_.data();
    const std::optional<ImageRecord> record = read_image_record(data);
    if (!record) fail_without_header(data);
    if (record->image_at == data.size()) continue;  // it tells of other records, as the first of a set of faces does
    fill_image_row(data, *record, offset_of_record(), key_prefix_, row);
    return true;
  }
}

void RecordIoSamples::fail_without_header(Bytes data) const {
  if (data.size() < kImageHeaderBytes) {
    fail(ErrorKind::kData, "'{}': {} has {}, and no header of an image", source_.name(), records_.place(),
         byte_count(data.size()));
  }
  fail(ErrorKind::kData, "'{}': {} has {}, which cannot hold its {} labels", source_.name(), records_.place(),
       byte_count(data.size()), load_little_endian<std::uint32_t>(data.data() + kImageFlagAt));
}

/// Where its data lie: of one that was split, in a copy.
std::uint64_t RecordIoSamples::offset_of_record() {
  if (!records_.is_split()) return records_.offset();
  const Bytes data = records_.data();
  if (data.size() > kCopiesBytesMax - source_.bytes().size()) {
    fail(ErrorKind::kLimit,
         "'{}': so many records hold RecordIO's magic number and were split for it that copies of them take more than "
         "{}; the last is {}",
         source_.name(), byte_count(kCopiesBytesMax), records_.place());
  }
  return source_.append(data);
}

ShardNotes RecordIoSamples::take_notes() {
  ShardNotes notes{.copies = source_.take_bytes()};
  if (without_bytes_ > 0) {
    notes.problems.push_back(
        fmt::format("'{}': skips {} without an image", source_.name(), counted(without_bytes_, "record")));
  }
  return notes;
}

}  // namespace stoker
