#include "stoker/plan/companion_stage.h"

#include <cstring>

namespace stoker {

std::uint64_t CompanionStage::memory(const ViewPlan& view, std::span<const Bytes> fields) {
  const auto encoded = [&] { return fields[static_cast<std::size_t>(view.field)]; };
  if (view.kind == ViewKind::kMask) return masks_.memory(view.mask, encoded());
  if (view.kind == ViewKind::kInstances) return instances_.memory(view.objects.instances, encoded());
  return 0;
}

// The views of a sample's objects find them once.
void CompanionStage::write(const ViewPlan& view, std::span<const Bytes> fields, const ImageCourse& course,
                           const std::function<MutableBytes(const Shape& shape)>& place) {
  const Bytes encoded = fields[static_cast<std::size_t>(view.field)];
  if (view.kind == ViewKind::kMask) {
    return masks_.write(view.mask, encoded, course, place(Plan::mask_shape_of(course.size)));
  }
  if (found_ != view.boxes) {
    objects_ = boxes_.run(view.objects.boxes, fields[static_cast<std::size_t>(view.boxes_field)], course);
    found_ = view.boxes;
  }
  if (view.kind == ViewKind::kBoxes || view.kind == ViewKind::kBoxLabels) {
    return write_boxes(view, objects_, course.size, place);
  }
  const MutableBytes out = place(Plan::objects_shape_of(view, std::ssize(objects_), course.size));
  if (view.kind == ViewKind::kKeypoints) {
    points_.write(view.objects.points, objects_, boxes_.details(), course, reinterpret_cast<float*>(out.data()));
  } else {
    instances_.write(view.objects.instances, objects_, boxes_.details(), encoded, course, out);
  }
}

void write_boxes(const ViewPlan& view, std::span<const LabeledBox> boxes, ImageSize size,
                 const std::function<MutableBytes(const Shape& shape)>& place) {
  std::uint8_t* out = place(Plan::objects_shape_of(view, std::ssize(boxes), size)).data();
  for (const LabeledBox& box : boxes) {
    if (view.kind == ViewKind::kBoxLabels) {
      std::memcpy(out, &box.label, sizeof(box.label));
      out += sizeof(box.label);
    } else {
      float numbers[4];
      store_box(view.objects.boxes, box, size, numbers);
      std::memcpy(out, numbers, sizeof(numbers));
      out += sizeof(numbers);
    }
  }
}

}  // namespace stoker
