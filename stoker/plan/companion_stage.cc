#include "stoker/plan/companion_stage.h"

#include <cstring>

namespace stoker {

void CompanionStage::write(const ViewPlan& view, Bytes encoded, const ImageCourse& course,
                           const std::function<MutableBytes(const Shape& shape)>& place) {
  if (view.kind == ViewKind::kMask) {
    masks_.write(view.mask, encoded, course, place(Plan::mask_shape_of(course.size)));
  } else {
    write_boxes(view, boxes_.run(view.boxes, encoded, course), course.size, place);
  }
}

void write_boxes(const ViewPlan& view, const std::vector<LabeledBox>& boxes, ImageSize size,
                 const std::function<MutableBytes(const Shape& shape)>& place) {
  std::uint8_t* out = place(Plan::boxes_shape_of(view, std::ssize(boxes))).data();
  for (const LabeledBox& box : boxes) {
    if (view.kind == ViewKind::kBoxLabels) {
      std::memcpy(out, &box.label, sizeof(box.label));
      out += sizeof(box.label);
    } else {
      float numbers[4];
      store_box(view.boxes, box, size, numbers);
      std::memcpy(out, numbers, sizeof(numbers));
      out += sizeof(numbers);
    }
  }
}

}  // namespace stoker
