// What goes along with an image: its mask, and of its objects the boxes, labels, keypoints and masks.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "stoker/plan/box_stage.h"
#include "stoker/plan/instance_stage.h"
#include "stoker/plan/mask_stage.h"
#include "stoker/plan/point_stage.h"

namespace stoker {

/// Keeps scratch memory; one per thread.
class CompanionStage {
 public:
  explicit CompanionStage(DecodeLimits limits = {}) : masks_(limits), instances_(limits) {}

  /// About what write() takes of memory for the sample with these fields. Throws as that does.
  std::uint64_t memory(const ViewPlan& view, std::span<const Bytes> fields);
  /// What follows is of the next sample.
  void begin() { found_.reset(); }
  /// Writes a view's value to where `place` says for its shape. Throws what MaskStage::write(), BoxStage::run(),
  /// PointStage::write() and InstanceStage::write() throw, and what `place` throws.
  void write(const ViewPlan& view, std::span<const Bytes> fields, const ImageCourse& course,
             const std::function<MutableBytes(const Shape& shape)>& place);

 private:
  MaskStage masks_;
  BoxStage boxes_;
  std::optional<std::size_t> found_;  // the view of which boxes_ has the sample's objects
  std::span<const LabeledBox> objects_;
  PointStage points_;
  InstanceStage instances_;
};

/// Writes boxes, or their labels.
void write_boxes(const ViewPlan& view, std::span<const LabeledBox> boxes, ImageSize size,
                 const std::function<MutableBytes(const Shape& shape)>& place);

}  // namespace stoker
