#include "stoker/plan/planar_path.h"

#include <algorithm>
#include <cassert>

#include "stoker/codec/decode_memory.h"
#include "stoker/codec/decode_work.h"

namespace stoker {
namespace {

constexpr int kPlanes = 3;

// Planes one after another.
MutableImageView planar_view(std::uint8_t* memory, int width, int height) {
  return {memory, width, height, kPlanes, width, 1, std::ptrdiff_t{width} * height};
}

MutableImageView transposed(MutableImageView view) {
  std::swap(view.width, view.height);
  std::swap(view.column_stride, view.row_stride);
  return view;
}

}  // namespace

void PlanarPath::begin(const ImageWork& work) {
  work_ = &work;
  turn_ = turn_of(work.orientation);
  planes_ = work.image->planes;
  const ImageFacts& facts = work.image->facts;
  if (!takes_it()) return;
  const SamplingMap map = work.map.stored(turn_, facts.width, facts.height);
  shrink_ = work.program->decode.scaled ? map.shrink() : 1;
  planes_ = shrunk(planes_, facts.width, facts.height, shrink_);
  taps_.build(map, planes_);
}

// The pixels of the stored image whose samples are read.
Rect PlanarPath::window() const {
  // Those of the finest plane along each axis; decoders add what others need beside them.
  const ImageFacts& facts = work_->image->facts;
  std::size_t x = 0, y = 0;
  for (std::size_t i = 1; i < static_cast<std::size_t>(planes_.count); ++i) {
    if (planes_.plane[i].across < planes_.plane[x].across) x = i;
    if (planes_.plane[i].down < planes_.plane[y].down) y = i;
  }
  const Rect columns = taps_.source(static_cast<int>(x)), rows = taps_.source(static_cast<int>(y));
  const int across = planes_.plane[x].across, down = planes_.plane[y].down;
  Rect window{.x = columns.x * across, .y = rows.y * down, .width = 0, .height = 0};
  window.width = std::min(columns.width * across, facts.width - window.x);
  window.height = std::min(rows.height * down, facts.height - window.y);
  // There may be nothing but padding; decoders still need a window, and a bad sample must still be found.
  window.width = std::max(window.width, 1);
  window.height = std::max(window.height, 1);
  return window;
}

std::uint64_t PlanarPath::decode_memory(Rect window) const {
  return decode_planes_memory(work_->image->facts, work_->image->encoded.size(), window);
}

std::int64_t PlanarPath::decode_work(Rect window) const {
  return decode_planes_work(work_->image->facts, window, !work_->image->entry_points.empty());
}

StageTensor PlanarPath::decoded() const {
  std::int64_t samples = 0;
  for (int i = 0; i < planes_.count; ++i) {
    const Rect source = taps_.source(i);
    samples += std::int64_t{source.width} * source.height;
  }
  return {DType::kU8, Shape{samples}};
}

StageTensor PlanarPath::resized() const {
  return {DType::kU8, image_shape(Layout::kNchw, work_->map.height(), work_->map.width(), kPlanes)};
}

MutableImageView PlanarPath::resized_view(std::uint8_t* memory) const {
  return planar_view(memory, work_->map.width(), work_->map.height());
}

DecodedImage PlanarPath::decode(AnyImageDecoder& decoder, Rect window) const {
  const CodedImage& image = *work_->image;
  return {.window = window,
          .pixels = {},
          .planes = decoder.decode_planes(image.encoded, image.facts, window, image.entry_points, shrink_)};
}

void PlanarPath::geometry(MutableImageView out) {
  assert(out.width == work_->map.width() && out.height == work_->map.height() && out.channels == kPlanes);
  if (!turn_.transpose) return scratch_.planar.resample(planes_, taps_, out);
  const MutableImageView stored = planar_view(scratch_.turned.bytes(resized().bytes()), taps_.width(), taps_.height());
  scratch_.planar.resample(planes_, taps_, stored);
  const MutableImageView upright = transposed(stored);
  for (int plane = 0; plane < kPlanes; ++plane) {
    for (int y = 0; y < out.height; ++y) {
      for (int x = 0; x < out.width; ++x) *out.at(x, y, plane) = *upright.at(x, y, plane);
    }
  }
}

void PlanarPath::color(ImageView resized, std::uint8_t* out) const {
  convert_planes(resized, work_->color, work_->format, out);
}

void PlanarPath::transform(std::uint8_t* out) {
  if (!turn_.transpose) return scratch_.planar.resample_converted(planes_, taps_, work_->color, work_->format, out);
  const MutableImageView stored = planar_view(scratch_.turned.bytes(resized().bytes()), taps_.width(), taps_.height());
  scratch_.planar.resample(planes_, taps_, stored);
  convert_planes(transposed(stored), work_->color, work_->format, out);
}

}  // namespace stoker
