// Masks go where their images go: through the same crop, resize, flip and warps. But no class is mixed with another:
// every pixel of the output shows one pixel of the mask, the nearest.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/codec/mask_decoder.h"
#include "stoker/codec/object_mask.h"
#include "stoker/ops/taps.h"
#include "stoker/plan/coco_objects.h"
#include "stoker/plan/course_pixels.h"
#include "stoker/plan/image_course.h"
#include "stoker/plan/plan.h"

namespace stoker {

/// Keeps scratch memory; one per thread.
class MaskStage {
 public:
  explicit MaskStage(DecodeLimits limits = {}) : decoder_(limits) {}

  /// About what write() takes of memory. Throws as write() does.
  std::uint64_t memory(const MaskOptions& options, Bytes encoded) {
    return options.of_objects ? 0 : decoder_.memory(encoded);
  }
  /// How often the objects of a sample may cover the output, all together.
  static constexpr std::size_t kLayersMax = 256;

  /// Throws kBadSample for a mask that is not sound, has another size than its image, or has a class that the output
  /// cannot hold, and for objects beyond the limits; and kLimit.
  void write(const MaskOptions& options, Bytes encoded, const ImageCourse& course, MutableBytes out);

 private:
  void sample_picture(const MaskOptions& options, Bytes encoded, const ImageCourse& course);
  void sample_objects(const MaskOptions& options, Bytes json, const ImageCourse& course);
  template <typename Code>
  void sample(const MaskOptions& options, const Code* codes, int mask_width, ImageSize size);

  MaskDecoder decoder_;
  ObjectMask object_;
  AxisTaps columns_, rows_;
  CoursePixels pixels_;
  std::vector<std::int64_t> classes_;
};

/// Throws what MaskStage::write() throws for these.
void require_size_of_image(const MaskPixels& mask, ImageSize image);
std::int64_t class_of_object(const MaskOptions& options, const CocoObject& object);
void store_class(const MaskOptions& options, std::int64_t number, MutableBytes out, std::size_t pixel);

}  // namespace stoker
