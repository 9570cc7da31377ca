#include "stoker/format/recordio/recordio_format.h"

#include <fmt/format.h>

#include <bit>
#include <optional>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/image_bytes.h"
#include "stoker/format/key_prefix.h"

namespace stoker {
namespace {

// The header of an image: u32 flag, f32 label, u64 id, u64 id2; then `flag` labels, f32 each, in place of the one.
constexpr std::size_t kFlagAt = 0, kLabelAt = 4, kIdAt = 8, kImageHeaderBytes = 24;

/// A class number that was stored as a float.
std::optional<std::int64_t> class_of(float label) {
  constexpr float kExactMax = 1 << 24;
  if (!(label >= 0 && label <= kExactMax)) return std::nullopt;
  const auto number = static_cast<std::int64_t>(label);
  return static_cast<float>(number) == label ? std::optional(number) : std::nullopt;
}

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

RecordIoSamples::RecordIoSamples(Source& source, std::stop_token stop)
    : source_(source),
      places_(source),
      stop_(std::move(stop)),
      records_(source),
      key_prefix_(key_prefix_of_file(source.name(), {".rec"})) {}

bool RecordIoSamples::next(SampleRow& row) {
  for (;; ++without_bytes_) {
    row.clear();
    row.source = &places_.source();
    stop_if_asked(stop_, source_.name());
    if (!records_.next()) return false;
    const Bytes data = records_.data();
    if (data.size() < kImageHeaderBytes) {
      fail(ErrorKind::kData, "'{}': {} has {}, and no header of an image", source_.name(), records_.place(),
           byte_count(data.size()));
    }
    const auto flag = load_little_endian<std::uint32_t>(data.data() + kFlagAt);
    if (flag > (data.size() - kImageHeaderBytes) / sizeof(float)) {
      fail(ErrorKind::kData, "'{}': {} has {}, which cannot hold its {} labels", source_.name(), records_.place(),
           byte_count(data.size()), flag);
    }
    const std::size_t image_at = kImageHeaderBytes + flag * sizeof(float);
    if (image_at == data.size()) continue;  // it tells of other records, as the first of a set of faces does
    fill(row, flag, image_at);
    return true;
  }
}

void RecordIoSamples::fill(SampleRow& row, std::uint32_t flag, std::size_t image_at) {
  const Bytes data = records_.data();
  std::uint64_t base = records_.offset();
  if (records_.is_split()) {
    if (data.size() > kCopiesBytesMax - copied_bytes_) {
      fail(
          ErrorKind::kLimit,
          "'{}': so many records hold RecordIO's magic number and were split for it that copies of them take more than "
          "{}; the last is {}",
          source_.name(), byte_count(kCopiesBytesMax), records_.place());
    }
    copied_bytes_ += data.size();
    base = places_.add_copy(data);
  }
  row.key = fmt::format("{}{:08}", key_prefix_, load_little_endian<std::uint64_t>(data.data() + kIdAt));
  const std::size_t labels = flag == 0 ? 1 : flag, labels_at = flag == 0 ? kLabelAt : kImageHeaderBytes;
  std::optional<std::int64_t> label;
  if (labels == 1) label = class_of(std::bit_cast<float>(load_little_endian<std::uint32_t>(data.data() + labels_at)));
  row.label = label.value_or(-1);
  const std::string_view extension = extension_of_bytes(data.subspan(image_at));
  row.fields.push_back({.name = extension.empty() ? "data" : extension,
                        .part = {},
                        .offset = base + image_at,
                        .length = data.size() - image_at});
  if (label) return;
  row.fields.push_back({.name = "label.f32", .part = {}, .offset = base + labels_at, .length = labels * sizeof(float)});
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
