#include "stoker/ops/kernels/resample/horizontal_pass.h"

#include <algorithm>
#include <cassert>

#include "stoker/ops/kernels/resample/plane_rows.h"

namespace stoker {
namespace {

constexpr std::size_t kPlaneAlignment = 32;  // outputs that the widest kernel writes at a time

std::size_t round_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// Neighbouring outputs show neighbouring columns, in ascending order.
bool is_run(const AxisTaps& taps, int begin, int end) {
  const std::int32_t* first = taps.first.data();
  for (int o = begin + 1; o < end; ++o) {
    if (first[o] != first[o - 1] + 1) return false;
  }
  return true;
}

}  // namespace

void HorizontalPass::start(const ResampleSource& source, const AxisTaps& taps, int begin, int end, int rows_kept) {
  assert(taps.source_begin >= source.origin_x && taps.source_end <= source.origin_x + source.pixels.width);
  source_ = &source;
  taps_ = &taps;
  kernels_ = &row_kernels();
  begin_ = begin;
  end_ = end;
  rows_kept_ = rows_kept;
  const auto channels = static_cast<std::size_t>(source.pixels.channels);
  const auto source_columns = static_cast<std::size_t>(taps.source_end - taps.source_begin);

  std::size_t overread = 0;
  if (taps.identity && is_run(taps, begin, end)) {
    mode_ = Mode::kCopy;
  } else {
    tables_.build(taps, begin, end, kernels_->lanes);
    mode_ = tables_.is_narrow() ? Mode::kNarrow : taps.identity ? Mode::kPick : Mode::kWide;
    overread = tables_.overread();
  }
  plane_stride_ = round_up(static_cast<std::size_t>(end - begin), kPlaneAlignment);
  row_bytes_ = plane_stride_ * channels;
  row_stride_ = round_up(row_bytes_, kRowSlack) + kRowSlack;
  line_stride_ = round_up(source_columns + overread, kRowSlack);
  source_line_ = line_.bytes(line_stride_ * channels);
  ring_ = rows_.bytes(row_stride_ * static_cast<std::size_t>(rows_kept));
  in_slot_ = kept_.array<std::int32_t>(static_cast<std::size_t>(rows_kept));
  std::fill_n(in_slot_, rows_kept, -1);
}

const std::uint8_t* HorizontalPass::row(int y) {
  const int slot = y % rows_kept_;
  std::uint8_t* row = ring_ + static_cast<std::size_t>(slot) * row_stride_;
  if (in_slot_[slot] != y) {
    make_row(y, row);
    in_slot_[slot] = y;
  }
  return row;
}

void HorizontalPass::make_row(int y, std::uint8_t* row) {
  const ImageView& pixels = source_->pixels;
  const int source_y = y - source_->origin_y;
  std::uint8_t* planes[3] = {};
  if (mode_ == Mode::kCopy) {
    for (int c = 0; c < pixels.channels; ++c) planes[c] = row + static_cast<std::size_t>(c) * plane_stride_;
    const int first = taps_->first[static_cast<std::size_t>(begin_)];
    return split_row(pixels, first - source_->origin_x, source_y, end_ - begin_, planes);
  }
  for (int c = 0; c < pixels.channels; ++c) planes[c] = source_line_ + static_cast<std::size_t>(c) * line_stride_;
  const int columns = taps_->source_end - taps_->source_begin;
  split_row(pixels, taps_->source_begin - source_->origin_x, source_y, columns, planes);
  if (mode_ == Mode::kPick) {
    for (int c = 0; c < pixels.channels; ++c) {
      std::uint8_t* out = row + static_cast<std::size_t>(c) * plane_stride_;
      const std::int32_t* first = taps_->first.data() + begin_;
      for (int o = 0; o < end_ - begin_; ++o) out[o] = planes[c][first[o] - taps_->source_begin];
    }
  } else if (mode_ == Mode::kNarrow) {
    kernels_->narrow(tables_.narrow(), pixels.channels, source_line_, line_stride_, row, plane_stride_);
  } else {
    kernels_->wide(tables_.wide(), pixels.channels, source_line_, line_stride_, row, plane_stride_);
  }
}

}  // namespace stoker
