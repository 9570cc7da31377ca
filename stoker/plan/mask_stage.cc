#include "stoker/plan/mask_stage.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <limits>
#include <span>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/plan/shown_object.h"

namespace stoker {
namespace {

/// The classes of all codes of a byte.
std::array<std::int64_t, 256> class_table(const MaskOptions& options) {
  std::array<std::int64_t, 256> table;
  for (std::size_t code = 0; code < table.size(); ++code) table[code] = options.class_of(std::int64_t(code));
  return table;
}

}  // namespace

void require_size_of_image(const MaskPixels& mask, ImageSize image) {
  if (mask.width == image.width && mask.height == image.height) return;
  const bool is_turned = mask.width == image.height && mask.height == image.width;
  fail(ErrorKind::kBadSample, "the mask has {} x {} pixels, and its image {} x {}{}", mask.width, mask.height,
       image.width, image.height,
       is_turned ? "; if Exif data turn the image, decode(orientation='apply') turns it upright" : "");
}

std::int64_t class_of_object(const MaskOptions& options, const CocoObject& object) {
  const std::int64_t category = *object.label;
  if (category >= 0 && category <= std::numeric_limits<std::uint32_t>::max()) return options.class_of(category);
  fail(ErrorKind::kBadSample, "an object has the category {}, which is no class of a mask", category);
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
  build_taps(course.map.x, Filter::kNearest, columns_);
  build_taps(course.map.y, Filter::kNearest, rows_);
  classes_.resize(pixels_of({course.map.width(), course.map.height()}));
  if (options.of_objects) {
    sample_objects(options, encoded, course);
  } else {
    sample_picture(options, encoded, course);
  }
  const std::span<const std::int32_t> moved = pixels_.find(course);
  const std::size_t pixels = pixels_of(course.size);
  assert(out.size() == pixels * size_of(options.dtype));
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::int64_t number = moved.empty()                     ? classes_[i]
                                : moved[i] == CoursePixels::kNone ? options.fill
                                                                  : classes_[static_cast<std::size_t>(moved[i])];
    store_class(options, number, out, i);
  }
}

void MaskStage::sample_picture(const MaskOptions& options, Bytes encoded, const ImageCourse& course) {
  const MaskPixels mask = decoder_.decode(encoded, options.codes);
  require_size_of_image(mask, course.image);
  const ImageSize size{course.map.width(), course.map.height()};
  mask.visit([&](const auto* codes) { sample(options, codes, mask.width, size); });
}

// What two objects of different classes cover has none.
void MaskStage::sample_objects(const MaskOptions& options, Bytes json, const ImageCourse& course) {
  constexpr std::int64_t kUncovered = std::numeric_limits<std::int64_t>::min();
  std::fill(classes_.begin(), classes_.end(), kUncovered);
  object_.start_sample();
  std::size_t covered = 0;  // by each object anew
  for (const CocoObject& object : read_coco_objects(as_text(json), true)) {
    const std::int64_t number = class_of_object(options, object);
    read_shape(object.details, course.image, object_);
    for_each_pixel_of(object_, columns_, rows_, [&](std::size_t pixel) {
      ++covered;
      std::int64_t& at = classes_[pixel];
      at = at == kUncovered || at == number ? number : options.fill;
    });
    if (covered > kLayersMax * classes_.size()) {
      fail(ErrorKind::kBadSample, "its objects cover their image more than {} times over", kLayersMax);
    }
  }
  std::size_t pixel = 0;
  for (const std::int32_t row : rows_.first) {
    for (const std::int32_t column : columns_.first) {
      std::int64_t& at = classes_[pixel++];
      if (at == kUncovered) at = row < 0 || column < 0 ? options.fill : options.class_of(0);
    }
  }
}

template <typename Code>
void MaskStage::sample(const MaskOptions& options, const Code* codes, int mask_width, ImageSize size) {
  constexpr bool kIsByte = sizeof(Code) == 1;
  const std::array<std::int64_t, 256> table = class_table(options);
  const std::int32_t* const columns = columns_.first.data();
  for (int y = 0; y < size.height; ++y) {
    std::int64_t* const to = classes_.data() + index_of(size, 0, y);
    const std::int32_t from_y = rows_.first[static_cast<std::size_t>(y)];
    const Code* const from = from_y < 0 ? nullptr : codes + static_cast<std::ptrdiff_t>(from_y) * mask_width;
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

}  // namespace stoker
