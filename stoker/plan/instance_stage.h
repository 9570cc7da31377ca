// The masks of objects go where their image goes, as masks of classes do: each pixel of the output shows the nearest
// pixel of each object's mask, which is 1 where the object is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/codec/mask_decoder.h"
#include "stoker/codec/object_mask.h"
#include "stoker/ops/object_options.h"
#include "stoker/ops/taps.h"
#include "stoker/plan/box_reader.h"
#include "stoker/plan/course_pixels.h"
#include "stoker/plan/image_course.h"

namespace stoker {

/// Keeps scratch memory; one per thread.
class InstanceStage {
 public:
  explicit InstanceStage(DecodeLimits limits = {}) : decoder_(limits) {}

  /// About what write() takes of memory. Throws as that does.
  std::uint64_t memory(InstanceSource source, Bytes encoded) {
    return source == InstanceSource::kShapes ? 0 : decoder_.memory(encoded);
  }
  /// Writes one mask of bytes after another. `encoded` is the picture of ids, if they come from one; `details` are what
  /// read_boxes() gives. Throws kBadSample for an object whose mask is not there, is not sound, or has another size
  /// than its image, and kLimit.
  void write(InstanceSource source, std::span<const LabeledBox> objects, std::span<const ObjectDetails> details,
             Bytes encoded, const ImageCourse& course, MutableBytes out);

 private:
  void write_shape(const ObjectDetails& object, const ImageCourse& course, MutableBytes out);
  void write_ids(InstanceSource source, std::span<const LabeledBox> objects, Bytes encoded, const ImageCourse& course,
                 MutableBytes out);
  void sample(ImageSize size, std::uint8_t* out) const;

  MaskDecoder decoder_;
  ObjectMask mask_;
  AxisTaps columns_, rows_;
  CoursePixels pixels_;
  std::span<const std::int32_t> moved_;
  std::vector<std::uint8_t> sampled_;
  std::vector<std::int64_t> ids_;  // by pixel of the output
};

/// The number that stands for an object in a picture of ids: what the data set gives it, else its place in the list,
/// from 1.
std::int64_t id_of(const LabeledBox& object);
constexpr MaskCodes codes_of(InstanceSource source) {
  return source == InstanceSource::kRgbIds ? MaskCodes::kRgb : MaskCodes::kIndex;
}

}  // namespace stoker
