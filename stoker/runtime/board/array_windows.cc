#include "stoker/runtime/board/array_windows.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "stoker/base/crc32c.h"
#include "stoker/base/error.h"
#include "stoker/base/pending.h"
#include "stoker/plan/field_array.h"
#include "stoker/runtime/board/encoded_arena.h"
#include "stoker/storage/source.h"
#include "stoker/tensor/npy_header.h"

namespace stoker {
namespace {

// Gaps that cost less to read than another request: in a page cache that takes as long as to copy some 30 KB.
constexpr std::uint64_t kGapMin = std::uint64_t{32} << 10;
// Known headers: 10 MB or so.
constexpr std::size_t kLayoutsMax = std::size_t{1} << 16;
// Less is not worth it: what is read as a whole is checked as a whole.
constexpr double kWorthCutting = 0.9;

struct HeaderRead {
  ReadRequest request;
  std::array<std::uint8_t, kNpyHeaderBytesMax> bytes;
  MutableBytes piece;
  const ArrayField* array = nullptr;
};

}  // namespace

ArrayWindows::ArrayWindows(const Plan& plan) : plan_(&plan), arrays_alone_(plan.fields().size(), false) {
  std::vector<bool> others(plan.fields().size(), false);
  for (const ViewPlan& view : plan.views()) {
    if (view.field < 0) continue;
    const bool is_cropped = view.kind == ViewKind::kArray && view.array.crop;
    (is_cropped ? arrays_alone_ : others)[static_cast<std::size_t>(view.field)] = true;
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (others[i]) arrays_alone_[i] = false;
    any_ = any_ || arrays_alone_[i];
  }
}

std::uint64_t ArrayWindows::key_of(const ArrayField& array) {
  constexpr std::uint64_t kFieldsMax = 256;
  return static_cast<std::uint64_t>(array.sample) * kFieldsMax + array.number;
}

// A checksum of all bytes wants all of them. (An index has others, of chunks, for fields that are no images.)
bool ArrayWindows::may_cut(const ArrayField& array) const {
  const SampleField& field = *array.field;
  if (!arrays_alone_[array.number] || field.length < kFieldBytesMin) return false;
  const bool needs_all = field.chunks == 0 && (field.crc32c || field.crc32);
  return !needs_all && array.row->source->has_cheap_parts(field.offset);
}

// Where a crop is drawn around numbers, it is not known before they were read.
bool ArrayWindows::decides_a_crop(std::size_t field, const SampleDraw& draw) const {
  return std::any_of(plan_->views().begin(), plan_->views().end(), [&](const ViewPlan& view) {
    if (view.kind != ViewKind::kArray || !view.array.crop) return false;
    const bool is_its_own = static_cast<std::size_t>(view.field) == field;
    const bool is_around = static_cast<std::size_t>(view.array.crop->around_field) == field;
    return (is_its_own || is_around) && draw_around(view.array, draw);
  });
}

void ArrayWindows::read_headers(std::span<const ArrayField> fields) {
  if (layouts_.size() > kLayoutsMax) layouts_.clear();
  refused_.clear();
  std::deque<HeaderRead> reads;
  {
    Pending pending;
    for (const ArrayField& array : fields) {
      if (!may_cut(array) || layouts_.contains(key_of(array))) continue;
      HeaderRead& read = reads.emplace_back();
      read.array = &array;
      read.piece = read.bytes;
      read.request.part = array.field->part;
      read.request.offset = array.field->offset;
      read.request.into = std::span(&read.piece, 1);
      start_pending(*array.row->source, read.request, pending);
    }
  }
  for (const HeaderRead& read : reads) {
    if (read.request.error) continue;
    try {
      const ArrayField& array = *read.array;
      layouts_.emplace(key_of(array),
                       read_field_layout(read.bytes, array.field->length, plan_->fields()[array.number]));
    } catch (const Error&) {
      refused_.emplace_back(key_of(*read.array), std::current_exception());
    }
  }
}

void ArrayWindows::find(const ArrayField& array, const SampleDraw& draw, FieldWindow& window) {
  window.clear();
  if (!may_cut(array)) return;
  const std::uint64_t key = key_of(array);
  for (const auto& [refused, error] : refused_) {
    if (refused == key) std::rethrow_exception(error);
  }
  const auto known = layouts_.find(key);
  if (known == layouts_.end()) return;
  if (decides_a_crop(array.number, draw)) return;
  const SampleField& field = *array.field;
  window.layout = known->second;
  const std::uint64_t gap = std::max(kGapMin, array.row->source->gap_worth_reading());
  ranges_.clear();
  for (const ViewPlan& view : plan_->views()) {
    if (view.kind != ViewKind::kArray || static_cast<std::size_t>(view.field) != array.number) continue;
    add_array_ranges(draw_array_box(view.array, window.layout, draw), window.layout, gap, ranges_);
  }
  if (field.chunks > 0) {
    for (ByteRange& range : ranges_) {
      range.begin = range.begin / kChunkBytes * kChunkBytes;
      range.end = std::min((range.end + kChunkBytes - 1) / kChunkBytes * kChunkBytes, field.length);
    }
  }
  join_ranges(ranges_, gap);
  std::uint64_t bytes = 0, at = 0;
  for (const ByteRange& range : ranges_) bytes += range.end - range.begin;
  if (bytes == 0 || static_cast<double>(bytes) > kWorthCutting * static_cast<double>(field.length)) return;
  for (const ByteRange& range : ranges_) {
    window.parts.push_back({range.begin, range.end, at});
    at += EncodedArena::in_units(static_cast<std::size_t>(range.end - range.begin));
  }
}

void check_window(const SampleRow& row, const SampleField& field, const FieldWindow& window, Bytes read) {
  if (field.chunks == 0) return;
  for (const FieldPart& part : window.parts) {
    for (std::uint64_t begin = part.begin; begin < part.end; begin += kChunkBytes) {
      const std::uint64_t bytes = std::min(kChunkBytes, part.end - begin);
      const Bytes chunk =
          read.subspan(static_cast<std::size_t>(part.at + begin - part.begin), static_cast<std::size_t>(bytes));
      if (crc32c(chunk) == row.chunk_crcs[field.first_chunk + static_cast<std::uint32_t>(begin / kChunkBytes)])
        continue;
      fail(ErrorKind::kBadSample,
           "its field '{}' is not what it was when the index was made: the checksum of its bytes from {} on does not "
           "match",
           field.name, field.offset + begin);
    }
  }
}

}  // namespace stoker
