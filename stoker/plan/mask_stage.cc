#include "stoker/plan/mask_stage.h"

#include <array>
#include <cassert>
#include <cstddef>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/ops/picture/warp_meaning.h"

namespace stoker {
namespace {

std::size_t pixels_of(ImageSize size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
}

std::size_t index_of(ImageSize size, int x, int y) {
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) + static_cast<std::size_t>(x);
}

/// The classes of all codes of a byte.
std::array<std::int64_t, 256> class_table(const MaskOptions& options) {
  std::array<std::int64_t, 256> table;
  for (std::uint32_t code = 0; code < table.size(); ++code) table[code] = options.class_of(code);
  return table;
}

}  // namespace

void require_size_of_image(const MaskPixels& mask, ImageSize image) {
  if (mask.width == image.width && mask.height == image.height) return;
  fail(ErrorKind::kBadSample, "the mask has {} x {} pixels, and its image {} x {}", mask.width, mask.height,
       image.width, image.height);
}

void store_class(const MaskOptions& options, std::int64_t number, MutableBytes out, std::size_t pixel) {
  if (options.dtype == DType::kI64) {
    store_little_endian(out.data() + pixel * sizeof(number), static_cast<std::uint64_t>(number));
    return;
  }
  if (!options.holds(number)) {
    fail(ErrorKind::kBadSample, "a pixel of the mask has the class {}, which a byte cannot hold: use dtype='i64'",
         number);
  }
  out[pixel] = static_cast<std::uint8_t>(number);
}

void MaskStage::write(const MaskOptions& options, Bytes encoded, const ImageCourse& course, MutableBytes out) {
  const MaskPixels mask = decoder_.decode(encoded, options.codes);
  require_size_of_image(mask, course.image);
  build_taps(course.map.x, Filter::kNearest, columns_);
  build_taps(course.map.y, Filter::kNearest, rows_);
  ImageSize size{course.map.width(), course.map.height()};
  classes_.resize(pixels_of(size));
  switch (mask.bytes) {
    case 1: sample<std::uint8_t>(options, mask, size); break;
    case 2: sample<std::uint16_t>(options, mask, size); break;
    default: sample<std::uint32_t>(options, mask, size);
  }
  for (const PictureStep& step : course.steps) {
    if (step.kind == PictureKind::kFrame) frame(step, size, options.fill);
    if (step.kind != PictureKind::kWarp && step.kind != PictureKind::kElastic) continue;
    warp(step, size, course.size, options.fill);
    size = course.size;
  }
  assert(size == course.size && out.size() == pixels_of(size) * size_of(options.dtype));
  for (std::size_t i = 0; i < classes_.size(); ++i) store_class(options, classes_[i], out, i);
}

template <typename Code>
void MaskStage::sample(const MaskOptions& options, const MaskPixels& mask, ImageSize size) {
  constexpr bool kIsByte = sizeof(Code) == 1;
  const std::array<std::int64_t, 256> table = class_table(options);
  const std::int32_t* const columns = columns_.first.data();
  for (int y = 0; y < size.height; ++y) {
    std::int64_t* const to = classes_.data() + index_of(size, 0, y);
    const std::int32_t from_y = rows_.first[static_cast<std::size_t>(y)];
    const Code* const from = from_y < 0 ? nullptr : mask.row<Code>(from_y);
    for (int x = 0; x < size.width; ++x) {
      if (!from || columns[x] < 0) {
        to[x] = options.fill;
      } else {
        const Code code = from[columns[x]];
        to[x] = kIsByte ? table[code & 0xFF] : options.class_of(code);
      }
    }
  }
}

void MaskStage::warp(const PictureStep& step, ImageSize in, ImageSize out, std::int64_t fill) {
  PicturePass pass{};
  pass.steps = &step;
  pass.count = 1;
  pass.width = out.width;
  pass.height = out.height;
  pass.in_width = in.width;
  pass.in_height = in.height;
  moved_.resize(pixels_of(out));
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const WarpPlace place = step.kind == PictureKind::kElastic ? elastic_place(pass, x, y) : matrix_place(pass, x, y);
      const int from_x = (place.x + WarpPlace::kOne / 2) >> WarpPlace::kBits;
      const int from_y = (place.y + WarpPlace::kOne / 2) >> WarpPlace::kBits;
      const bool inside = from_x >= 0 && from_x < in.width && from_y >= 0 && from_y < in.height;
      moved_[index_of(out, x, y)] = inside ? classes_[index_of(in, from_x, from_y)] : fill;
    }
  }
  classes_.swap(moved_);
}

void MaskStage::frame(const PictureStep& step, ImageSize size, std::int64_t fill) {
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      if (x < step.n[0] || y < step.n[1] || x >= step.n[2] || y >= step.n[3]) classes_[index_of(size, x, y)] = fill;
    }
  }
}

}  // namespace stoker
