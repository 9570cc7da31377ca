// Masks go where their images go: through the same crop, resize, flip and warps. But no class is mixed with another:
// every pixel of the output shows one pixel of the mask, the nearest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/codec/mask_decoder.h"
#include "stoker/ops/taps.h"
#include "stoker/plan/plan.h"

namespace stoker {

/// Where an image went.
struct ImageCourse {
  ImageSize image;                       // as it was, upright
  SamplingMap map;                       // of the whole course, if no warps follow
  ImageSize size;                        // of what came out
  std::span<const PictureStep> steps{};  // of which those that move no pixels do not matter
};

/// Keeps scratch memory; one per thread.
class MaskStage {
 public:
  explicit MaskStage(DecodeLimits limits = {}) : decoder_(limits) {}

  /// About what write() takes of memory. Throws as write() does.
  std::uint64_t memory(Bytes encoded) const { return decoder_.memory(encoded); }
  /// Throws kBadSample for a mask that is not sound, has another size than its image, or has a class that the output
  /// cannot hold; and kLimit.
  void write(const MaskOptions& options, Bytes encoded, const ImageCourse& course, MutableBytes out);

 private:
  template <typename Code>
  void sample(const MaskOptions& options, const MaskPixels& mask, ImageSize size);
  void warp(const PictureStep& step, ImageSize in, ImageSize out, std::int64_t fill);
  void frame(const PictureStep& step, ImageSize size, std::int64_t fill);

  MaskDecoder decoder_;
  AxisTaps columns_, rows_;
  std::vector<std::int64_t> classes_, moved_;
};

/// Throws what MaskStage::write() throws for these.
void require_size_of_image(const MaskPixels& mask, ImageSize image);
void store_class(const MaskOptions& options, std::int64_t number, MutableBytes out, std::size_t pixel);

}  // namespace stoker
