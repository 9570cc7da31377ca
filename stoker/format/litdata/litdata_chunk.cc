#include "stoker/format/litdata/litdata_chunk.h"

#include <algorithm>
#include <array>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/compressed_file.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kFramedMagic = "LDFZ01\0\0"sv;
constexpr std::string_view kArrowMagic = "LDARW01\0"sv;  // at the end of a chunk that holds a table of Arrow
constexpr std::size_t kFramedPrefixBytes = 24, kFrameBytes = 24;

/// Of a chunk without frames: the count and the offsets.
constexpr std::uint64_t offsets_end(std::uint64_t items) { return 4 + 4 * (items + 1); }

}  // namespace

LitDataChunk::LitDataChunk(Source& source, bool is_zstd_by_one) : source_(source), is_zstd_by_one_(is_zstd_by_one) {
  std::array<std::uint8_t, kFramedMagic.size()> head{};
  const std::size_t there = std::min<std::uint64_t>(source.size(), head.size());
  read_fully(source, 0, MutableBytes(head).first(there));
  is_framed_ = as_text(head) == kFramedMagic;
  if (is_framed_) {
    open_framed();
  } else {
    open_plain();
  }
}

void LitDataChunk::open_plain() {
  const std::optional<CompressedBlock> block = compressed_file(source_);
  // Items and their offsets are read side by side.
  places_.emplace(source_, std::max(BlockPlaces::kScannedBytesMax, block ? block->length : 0));
  begin_ = block ? places_->add(*block) : 0;
  size_ = block ? block->length : source_.size();
  bytes_ = &places_->source();
  std::array<std::uint8_t, 8> fixed{};
  if (size_ >= fixed.size()) read_fully(*bytes_, begin_, fixed);
  items_ = load_little_endian<std::uint32_t>(fixed.data());
  const std::uint64_t items_at = offsets_end(items_);
  if (size_ < items_at) {
    fail(ErrorKind::kData, "'{}' is truncated: the offsets of its {} items need {}, and it has {}", source_.name(),
         items_, byte_count(items_at), size_);
  }
  end_ = load_little_endian<std::uint32_t>(fixed.data() + 4);
  if (end_ != items_at) {
    fail(ErrorKind::kData,
         "'{}' is damaged: its {} items are said to begin at byte {}, and their offsets end at byte {}", source_.name(),
         items_, end_, items_at);
  }
  items_at_ = begin_;
  ends_.emplace(*bytes_, begin_ + 8, begin_ + items_at);
  data_.emplace(*bytes_, begin_ + items_at, begin_ + size_);
  if (items_ > 0) find_table();
}

void LitDataChunk::open_framed() {
  size_ = source_.size();
  std::array<std::uint8_t, kFramedPrefixBytes> prefix{};
  if (size_ >= prefix.size()) read_fully(source_, 0, prefix);
  const auto version = load_little_endian<std::uint16_t>(prefix.data() + 8);
  items_ = load_little_endian<std::uint32_t>(prefix.data() + 12);
  frames_left_ = load_little_endian<std::uint32_t>(prefix.data() + 20);
  const std::uint64_t frames_at = kFramedPrefixBytes + 4 * (std::uint64_t{items_} + 1);
  const std::uint64_t frames_end = frames_at + kFrameBytes * std::uint64_t{frames_left_};
  if (size_ < std::max<std::uint64_t>(prefix.size(), frames_end)) {
    fail(ErrorKind::kData, "'{}' is truncated: the tables of its {} items and {} frames need {}, and it has {}",
         source_.name(), items_, frames_left_, byte_count(std::max<std::uint64_t>(prefix.size(), frames_end)), size_);
  }
  if (version != 1) fail(ErrorKind::kData, "'{}' is of version {}; Stoker reads version 1", source_.name(), version);
  std::uint64_t longest = 0;
  frames_.emplace(source_, frames_at, frames_end);
  for (std::uint32_t i = 0; i < frames_left_; ++i) longest = std::max(longest, take_frame().block.length);
  places_.emplace(source_, std::max(BlockPlaces::kScannedBytesMax, std::min(longest, kBlockBytesMax)));
  bytes_ = &places_->source();
  frames_.emplace(source_, frames_at, frames_end);
  ends_.emplace(source_, kFramedPrefixBytes, frames_at);
  stored_end_ = frames_end;
  if (take_end() != 0) {
    fail(ErrorKind::kData, "'{}' is damaged: its first item is said to begin at byte {} of the frames", source_.name(),
         end_);
  }
}

LitDataChunk::Frame LitDataChunk::take_frame() {
  const std::uint8_t* const from = frames_->take(kFrameBytes).data();
  return {.first = load_little_endian<std::uint32_t>(from),
          .items = load_little_endian<std::uint32_t>(from + 4),
          .block = {.offset = load_little_endian<std::uint64_t>(from + 8),
                    .stored_length = load_little_endian<std::uint32_t>(from + 16),
                    .length = load_little_endian<std::uint32_t>(from + 20),
                    .codec = BlockCodec::kZstd}};
}

/// Of the next item, which becomes end_.
std::uint32_t LitDataChunk::take_end() {
  end_ = load_little_endian<std::uint32_t>(ends_->take(sizeof(std::uint32_t)).data());
  return end_;
}

void LitDataChunk::begin_frame() {
  const bool is_left_over = data_ && data_->left() > 0;
  if (frames_left_ == 0 || is_left_over) {
    fail(ErrorKind::kData, "'{}' is damaged: its frames end {} item {}", source_.name(),
         is_left_over ? "after the items of a frame and before" : "before", taken_);
  }
  --frames_left_;
  const Frame frame = take_frame();
  if (frame.first != taken_ || frame.items == 0 || frame.items > items_ - taken_ || frame.block.offset != stored_end_) {
    fail(ErrorKind::kData,
         "'{}' is damaged: a frame is said to hold {} items from item {} on and to lie at byte {}, where item {} and "
         "byte {} are next",
         source_.name(), frame.items, frame.first, frame.block.offset, taken_, stored_end_);
  }
  stored_end_ += frame.block.stored_length;
  if (stored_end_ > size_) {
    fail(ErrorKind::kData, "'{}' is truncated: the frame of item {} ends at byte {}, and it has {}", source_.name(),
         taken_, stored_end_, byte_count(size_));
  }
  const std::uint64_t place = places_->add(frame.block);
  frame_end_ = frame.first + frame.items;
  items_at_ = place - end_;  // may wrap around; only sums with offsets of the frame are used
  data_.emplace(*bytes_, place, place + frame.block.length);
}

/// Between the last item, as the offsets say it, and the end of the chunk.
void LitDataChunk::find_table() {
  constexpr std::uint64_t kLengthBytes = 4;
  std::array<std::uint8_t, kLengthBytes + kArrowMagic.size()> last{};
  std::array<std::uint8_t, 4> offset{};
  read_fully(*bytes_, begin_ + 4 + 4 * std::uint64_t{items_}, offset);
  const auto items_end = load_little_endian<std::uint32_t>(offset.data());
  if (items_end > size_ || size_ - items_end < last.size()) return;
  read_fully(*bytes_, begin_ + size_ - last.size(), last);
  if (as_text(last).substr(kLengthBytes) != kArrowMagic) return;
  const auto length = load_little_endian<std::uint32_t>(last.data());
  const std::uint64_t there = size_ - items_end - last.size();
  if (length > there) {
    fail(ErrorKind::kData, "'{}' is damaged: its table of Arrow is said to have {}, and there are {}", source_.name(),
         byte_count(length), there);
  }
  const std::uint64_t end = begin_ + size_ - last.size();
  table_ = {.begin = end - length, .end = end};
}

/// The item at hand, which is a frame of zstd. Some that litdata should have compressed are as they were: their first
/// bytes are a size, and none is that long.
void LitDataChunk::inflate_item() {
  if (whole_file_codec(item_) != BlockCodec::kZstd) return;
  const std::optional<std::uint64_t> length = zstd_content_bytes(item_);
  if (!length || *length > kItemBytesMax) {
    fail(ErrorKind::kData, "'{}' is damaged: item {} does not say that it becomes up to {}", source_.name(), taken_ - 1,
         byte_count(kItemBytesMax));
  }
  if (begin_ != 0) {
    fail(ErrorKind::kData, "'{}' is compressed as a whole, and its samples are by themselves; Stoker reads one of both",
         source_.name());
  }
  offset_ =
      places_->add({.offset = offset_, .stored_length = item_.size(), .length = *length, .codec = BlockCodec::kZstd});
  inflated_.resize(static_cast<std::size_t>(*length));
  read_fully(*bytes_, offset_, inflated_);
  item_ = inflated_;
}

void LitDataChunk::require_end() {
  if (is_framed_) {
    if (frames_left_ == 0 && stored_end_ == size_ && (!data_ || data_->left() == 0)) return;
    fail(ErrorKind::kData, "'{}' is damaged: its {} items end before its frames do", source_.name(), items_);
  }
  const std::uint64_t left = data_->left();
  if (left == 0) return;
  fail(ErrorKind::kData, "'{}' is damaged: its last item ends at byte {}, and it has {}", source_.name(), end_,
       byte_count(size_));
}

bool LitDataChunk::next() {
  if (taken_ == items_) {
    require_end();
    return false;
  }
  if (is_framed_ && taken_ == frame_end_) begin_frame();
  const std::uint32_t begin = end_;
  if (take_end() < begin) {
    fail(ErrorKind::kData, "'{}' is damaged: item {} is said to lie from byte {} to byte {}", source_.name(), taken_,
         begin, end_);
  }
  const std::uint32_t length = end_ - begin;
  if (length > data_->left()) {
    fail(ErrorKind::kData, "'{}' is truncated: item {} is said to have {}, and {} are left", source_.name(), taken_,
         byte_count(length), data_->left());
  }
  if (length > kItemBytesMax) {
    fail(ErrorKind::kData, "'{}': item {} has {}; Stoker reads those of up to {}", source_.name(), taken_,
         byte_count(length), kItemBytesMax);
  }
  offset_ = items_at_ + begin;
  item_ = data_->take(length);
  ++taken_;
  if (is_zstd_by_one_) inflate_item();
  return true;
}

bool is_litdata_chunk(Bytes beginning) {
  if (as_text(beginning).starts_with(kFramedMagic)) return true;
  if (beginning.size() < 12) return false;
  const auto items = load_little_endian<std::uint32_t>(beginning.data());
  const std::uint64_t items_at = offsets_end(items);
  std::uint64_t before = load_little_endian<std::uint32_t>(beginning.data() + 4);
  if (items == 0 || before != items_at) return false;
  for (std::uint64_t at = 8; at + 4 <= std::min<std::uint64_t>(items_at, beginning.size()); at += 4) {
    const auto end = load_little_endian<std::uint32_t>(beginning.data() + at);
    if (end < before) return false;
    before = end;
  }
  return true;
}

}  // namespace stoker
