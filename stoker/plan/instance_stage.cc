#include "stoker/plan/instance_stage.h"

#include <cassert>
#include <cstring>

#include "stoker/base/error.h"
#include "stoker/plan/mask_stage.h"
#include "stoker/plan/shown_object.h"

namespace stoker {
namespace {

constexpr std::int64_t kNoObject = -1;

}  // namespace

std::int64_t id_of(const LabeledBox& object) {
  return object.id.value_or(static_cast<std::int64_t>(object.number) + 1);
}

void InstanceStage::write(InstanceSource source, std::span<const LabeledBox> objects,
                          std::span<const ObjectDetails> details, Bytes encoded, const ImageCourse& course,
                          MutableBytes out) {
  const std::size_t pixels = pixels_of(course.size);
  assert(out.size() == pixels * objects.size());
  build_taps(course.map.x, Filter::kNearest, columns_);
  build_taps(course.map.y, Filter::kNearest, rows_);
  moved_ = pixels_.find(course);
  if (source != InstanceSource::kShapes) return write_ids(source, objects, encoded, course, out);
  mask_.start_sample();
  for (std::size_t i = 0; i < objects.size(); ++i) {
    write_shape(details[objects[i].number], course, out.subspan(i * pixels, pixels));
  }
}

void InstanceStage::write_shape(const ObjectDetails& object, const ImageCourse& course, MutableBytes out) {
  read_shape(object, course.image, mask_);
  const ImageSize size{course.map.width(), course.map.height()};
  if (moved_.empty()) return sample(size, out.data());
  sampled_.resize(pixels_of(size));
  sample(size, sampled_.data());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = moved_[i] == CoursePixels::kNone ? 0 : sampled_[static_cast<std::size_t>(moved_[i])];
  }
}

/// What the sampling map makes of mask_.
void InstanceStage::sample(ImageSize size, std::uint8_t* out) const {
  std::memset(out, 0, pixels_of(size));
  for_each_pixel_of(mask_, columns_, rows_, [&](std::size_t pixel) { out[pixel] = 1; });
}

void InstanceStage::write_ids(InstanceSource source, std::span<const LabeledBox> objects, Bytes encoded,
                              const ImageCourse& course, MutableBytes out) {
  const MaskPixels mask = decoder_.decode(encoded, codes_of(source));
  require_size_of_image(mask, course.image);
  const ImageSize size{course.map.width(), course.map.height()};
  const std::size_t pixels = pixels_of(course.size);
  ids_.resize(pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::int64_t from = moved_.empty() ? static_cast<std::int64_t>(i) : moved_[i];
    const std::int32_t x = from < 0 ? -1 : columns_.first[static_cast<std::size_t>(from % size.width)];
    const std::int32_t y = from < 0 ? -1 : rows_.first[static_cast<std::size_t>(from / size.width)];
    ids_[i] = x < 0 || y < 0 ? kNoObject : mask.at(x, y);
  }
  for (std::size_t object = 0; object < objects.size(); ++object) {
    const std::int64_t id = id_of(objects[object]);
    std::uint8_t* const to = out.data() + object * pixels;
    for (std::size_t i = 0; i < pixels; ++i) to[i] = ids_[i] == id && id != kNoObject ? 1 : 0;
  }
}

}  // namespace stoker
