// What goes along with an image: its mask, the boxes of its objects, their labels.
#pragma once

#include <functional>

#include "stoker/plan/box_stage.h"
#include "stoker/plan/mask_stage.h"

namespace stoker {

/// Keeps scratch memory; one per thread.
class CompanionStage {
 public:
  explicit CompanionStage(DecodeLimits limits = {}) : masks_(limits) {}

  /// About what write() takes of memory for a mask. Throws as that does.
  std::uint64_t memory_of_mask(Bytes encoded) const { return masks_.memory(encoded); }
  /// Writes a view's value for the field's bytes to where `place` says for its shape. Throws what MaskStage::write()
  /// and BoxStage::run() throw, and what `place` throws.
  void write(const ViewPlan& view, Bytes encoded, const ImageCourse& course,
             const std::function<MutableBytes(const Shape& shape)>& place);

 private:
  MaskStage masks_;
  BoxStage boxes_;
};

/// Writes boxes, or their labels.
void write_boxes(const ViewPlan& view, const std::vector<LabeledBox>& boxes, ImageSize size,
                 const std::function<MutableBytes(const Shape& shape)>& place);

}  // namespace stoker
