#include "stoker/runtime/board/raw_windows.h"

#include <algorithm>

#include "stoker/base/crc32c.h"
#include "stoker/base/error.h"
#include "stoker/codec/raw_decoder.h"

namespace stoker {
namespace {

std::uint64_t row_bytes(const ImageFacts& facts) {
  return static_cast<std::uint64_t>(facts.width) * static_cast<std::uint64_t>(facts.components);
}

/// Whether the field is the pixels and a header before them; an index may say what it likes of their number.
bool holds_pixels(const SampleField& field, const ImageFacts& facts) {
  std::uint64_t pixels;
  const bool overflows = __builtin_mul_overflow(row_bytes(facts), static_cast<std::uint64_t>(facts.height), &pixels);
  return !overflows && pixels < field.length && field.length - pixels <= kChunkBytes;
}

}  // namespace

RawWindows::RawWindows(const Plan& plan) : plan_(&plan), images_alone_(plan.fields().size(), true) {
  for (const ViewPlan& view : plan.views()) {
    // What is drawn depends on more than this image, or others read more of the field.
    const bool is_alone = view.kind == ViewKind::kImage && !view.as_large_as && !view.looks_at;
    if (!is_alone && view.field >= 0) images_alone_[static_cast<std::size_t>(view.field)] = false;
  }
}

WantedChunks RawWindows::chunks(std::size_t number, const SampleRow& row, const SampleField& field,
                                const SampleDraw& draw) const {
  const bool raw = row.facts && row.facts->codec == Codec::kRaw && &field == row.image_field();
  if (!plan_ || field.chunks == 0 || !raw || !images_alone_[number]) return {};
  const ImageFacts& facts = *row.facts;
  if (!holds_pixels(field, facts)) return {};
  const std::uint64_t header = field.length - row_bytes(facts) * static_cast<std::uint64_t>(facts.height);
  int top = facts.height, bottom = 0;
  for (const ViewPlan& view : plan_->views()) {
    if (view.kind != ViewKind::kImage || static_cast<std::size_t>(view.field) != number) continue;
    const SamplingMap map = view.image.draw({facts.width, facts.height}, draw).map;
    build_taps(map.y, map.filter, rows_);
    top = std::min(top, rows_.source_begin);
    bottom = std::max(bottom, std::max(rows_.source_end, rows_.source_begin + 1));
  }
  if (top >= bottom) return {};
  const std::uint64_t begin = header + row_bytes(facts) * static_cast<std::uint64_t>(top);
  const std::uint64_t end = header + row_bytes(facts) * static_cast<std::uint64_t>(bottom);
  const WantedChunks wanted{static_cast<std::uint32_t>(begin / kChunkBytes),
                            static_cast<std::uint32_t>((end + kChunkBytes - 1) / kChunkBytes)};
  return wanted.first <= 1 && wanted.end == field.chunks ? WantedChunks() : wanted;
}

void check_wanted(const SampleRow& row, const SampleField& field, WantedChunks wanted, Bytes bytes) {
  if (wanted.whole()) return check_field(field, bytes);
  const auto check = [&](std::uint32_t chunk) {
    const Bytes part = bytes.subspan(chunk * kChunkBytes);
    if (crc32c(part.first(std::min<std::size_t>(part.size(), kChunkBytes))) ==
        row.chunk_crcs[field.first_chunk + chunk])
      return;
    fail(ErrorKind::kBadSample,
         "its field '{}' is not what it was when the index was made: the checksum of its bytes from {} on does not "
         "match",
         field.name, field.offset + chunk * kChunkBytes);
  };
  check(0);
  for (std::uint32_t chunk = std::max(wanted.first, 1U); chunk < wanted.end; ++chunk) check(chunk);
  // What was read is right if the index knows the size.
  const ImageFacts told = RawDecoder().read_facts(bytes);
  if (told.width != row.facts->width || told.height != row.facts->height || told.components != row.facts->components) {
    fail(ErrorKind::kBadSample, "its field '{}' is {} x {} pixels, and the index says {} x {}", field.name, told.width,
         told.height, row.facts->width, row.facts->height);
  }
}

}  // namespace stoker
