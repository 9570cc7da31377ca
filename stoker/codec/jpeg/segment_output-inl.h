// The end of a segment: coefficients to samples.
#if defined(STOKER_CODEC_JPEG_SEGMENT_OUTPUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_CODEC_JPEG_SEGMENT_OUTPUT_INL_H_
#undef STOKER_CODEC_JPEG_SEGMENT_OUTPUT_INL_H_
#else
#define STOKER_CODEC_JPEG_SEGMENT_OUTPUT_INL_H_
#endif

#include <algorithm>

#include "stoker/codec/jpeg/inverse_transform-inl.h"
#include "stoker/codec/jpeg/segment_decoder.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

// DC coefficients are coded as differences. Whether the last ones are those that must be there.
HWY_INLINE bool add_up_dc(const SegmentWork& work, const JpegSegment& segment, std::int16_t* coefficients) {
  const SegmentLayout& layout = *work.layout;
  std::uint16_t dc[3];
  for (int c = 0; c < 3; ++c) dc[c] = static_cast<std::uint16_t>(segment.dc[static_cast<std::size_t>(c)]);
  for (int block = layout.begin(segment.mcus) / 64; block < layout.blocks(); ++block) {
    const int place = layout.dc_place(block);
    std::uint16_t& sum = dc[layout.component_of(block)];
    sum = static_cast<std::uint16_t>(sum + static_cast<std::uint16_t>(coefficients[place]));
    coefficients[place] = static_cast<std::int16_t>(sum);
  }
  if (segment.end != JpegSegment::End::kExact) return true;
  bool same = true;
  for (int c = 0; c < 3; ++c)
    same = same && static_cast<std::int16_t>(dc[c]) == segment.end_dc[static_cast<std::size_t>(c)];
  return same;
}

// A group of which only the blocks from `first` on are wanted.
HWY_NOINLINE void transform_some(std::int16_t* group, const PlaneTarget& target, std::uint8_t* out, int first) {
  alignas(64) std::uint8_t samples[8 * 8 * kGroupBlocks];
  const int side = target.side;
  transform_group(group, target.quantization, side, samples, side * kGroupBlocks);
  for (int row = 0; row < side; ++row) {
    std::copy(samples + (row * kGroupBlocks + first) * side, samples + (row + 1) * kGroupBlocks * side,
              out + row * target.stride + first * side);
  }
}

// Makes the samples of a segment whose coefficients are in the buffer, and clears that. False if its end is not as it
// must be.
HWY_NOINLINE bool finish_segment(const SegmentWork& work, const JpegSegment& segment, std::uint64_t bit,
                                 std::int16_t* coefficients) {
  using End = JpegSegment::End;
  const bool ended_well = segment.end == End::kExact        ? bit == segment.end_bit
                          : segment.end == End::kWithinByte ? bit <= segment.end_bit && segment.end_bit - bit < 8
                                                            : bit <= segment.end_bit;
  if (!add_up_dc(work, segment, coefficients) || !ended_well) return false;
  const SegmentLayout& layout = *work.layout;
  const int first_mcu = kSegmentMcus - segment.mcus;  // of those that the buffer has room for
  const int left = segment.column - first_mcu;        // the column where it would begin
  const int first_wanted = std::max(first_mcu, work.first_column - left);
  for (int c = 0; c < layout.components(); ++c) {
    const PlaneTarget& target = work.targets[static_cast<std::size_t>(c)];
    const int across = layout.across(c), down = layout.down(c);
    const int side = target.side;
    const std::ptrdiff_t column = std::ptrdiff_t{left - work.first_column} * across * side;
    for (int row = 0; row < down; ++row) {
      std::uint8_t* const out =
          target.samples + (std::ptrdiff_t{segment.row - work.first_row} * down + row) * side * target.stride + column;
      for (int g = 0; g < layout.groups(c); ++g) {
        std::int16_t* const group = coefficients + layout.group_place(c, row, g);
        const int first = first_wanted * across - g * kGroupBlocks;
        if (first <= 0) {
          transform_group(group, target.quantization, side, out + g * kGroupBlocks * side, target.stride);
        } else if (first < kGroupBlocks) {
          transform_some(group, target, out + g * kGroupBlocks * side, first);
        } else {
          std::fill_n(group, kGroupCoefficients, std::int16_t{0});
        }
      }
    }
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
