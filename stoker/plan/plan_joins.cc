// What the views of a recipe belong to: the images that others go along with, boxes, draw groups.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/spelling.h"
#include "stoker/plan/plan.h"

namespace stoker {

/// Finds what views go along with, which may be before them or after them.
void Plan::join() {
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const ViewPlan& view = views_[i];
    if (!view.goes_along() && view.kind != ViewKind::kArray && !likes_[i].empty()) {
      fail(ErrorKind::kUsage, "view '{}': only masks, arrays, boxes and what belongs to boxes can be like another view",
           view.name);
    }
    if (view.kind == ViewKind::kArray) join_to_array(i);
    if (view.kind == ViewKind::kMask || view.kind == ViewKind::kBoxes) join_to_image(i);
  }
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (views_[i].has_objects() && views_[i].kind != ViewKind::kBoxes) join_to_boxes(i);
  }
  for (ViewPlan& view : views_) {
    if (view.has_objects()) view.objects.boxes = views_[view.boxes].objects.boxes;
  }
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (views_[i].kind == ViewKind::kImage) join_draw_group(i);
  }
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (views_[i].kind == ViewKind::kImage && views_[i].image.geometry.looks_at_boxes()) join_looks(i);
  }
}

/// Images of one group show the same part of what they show, even where they are not of one size: that of the view
/// which the group is named after, else of its first one, is what is drawn for.
void Plan::join_draw_group(std::size_t number) {
  std::optional<std::size_t> first;
  for (std::size_t other = 0; other < views_.size(); ++other) {
    if (views_[other].kind != ViewKind::kImage || draw_groups_[other] != draw_groups_[number]) continue;
    if (!first || views_[other].name == draw_groups_[number]) first = other;
  }
  if (views_[*first].field != views_[number].field) views_[number].as_large_as = first;
}

/// The boxes of its own image; else, of an image that it is as large as.
void Plan::join_looks(std::size_t number) {
  ViewPlan& view = views_[number];
  const int group_field = views_[view.as_large_as.value_or(number)].field;
  const auto distance = [&](const ViewPlan& boxes) {
    const int field = views_[boxes.like].field;
    return boxes.like == number ? 0 : field == view.field ? 1 : field == group_field ? 2 : 3;
  };
  int least = 3;
  for (std::size_t other = 0; other < views_.size(); ++other) {
    if (views_[other].kind != ViewKind::kBoxes || distance(views_[other]) >= least) continue;
    least = distance(views_[other]);
    view.looks_at = other;
  }
  if (view.looks_at) return;
  fail(ErrorKind::kUsage,
       "view '{0}': iou_crop looks at the objects of the image: add a view with decode_boxes that is like = '{0}'",
       view.name);
}

void Plan::join_to_image(std::size_t number) {
  ViewPlan& view = views_[number];
  const std::string& like = likes_[number];
  std::vector<std::string> images;
  for (std::size_t other = 0; other < views_.size(); ++other) {
    if (views_[other].kind != ViewKind::kImage) continue;
    images.push_back(views_[other].name);
    if (images.back() == like) view.like = other;
  }
  view.boxes = number;
  view.boxes_field = view.field;
  if (std::find(images.begin(), images.end(), like) == images.end()) {
    fail(ErrorKind::kUsage, "view '{}': no view '{}' makes an image{}", view.name, like, did_you_mean(like, images));
  }
  if (views_[view.like].image.picture.bounds().kept > 0) {
    fail(ErrorKind::kUsage,
         "view '{}': view '{}' blends pictures that were moved differently (aug_mix), and nothing can go along with it",
         view.name, like);
  }
}

void Plan::join_to_boxes(std::size_t number) {
  ViewPlan& view = views_[number];
  const std::string& like = likes_[number];
  std::vector<std::string> names;
  for (std::size_t other = 0; other < views_.size(); ++other) {
    if (views_[other].kind != ViewKind::kBoxes) continue;
    names.push_back(views_[other].name);
    if (names.back() == like) view.boxes = other;
  }
  if (std::find(names.begin(), names.end(), like) == names.end()) {
    fail(ErrorKind::kUsage, "view '{}': no view '{}' has boxes{}", view.name, like, did_you_mean(like, names));
  }
  ViewPlan& boxes = views_[view.boxes];
  view.like = boxes.like;
  view.boxes_field = boxes.field;
  const bool reads_details = view.kind == ViewKind::kKeypoints ||
                             (view.kind == ViewKind::kInstances && view.objects.instances == InstanceSource::kShapes);
  if (view.field < 0) view.field = boxes.field;
  if (!reads_details) return;
  if (boxes.objects.boxes.source != BoxOptions::Source::kCoco) {
    fail(ErrorKind::kUsage, "view '{}': the boxes of view '{}' are not read from COCO's JSON, which alone has {}",
         view.name, like, view.kind == ViewKind::kKeypoints ? "keypoints" : "shapes of objects: use source='ids'");
  }
  boxes.objects.boxes.with_details = true;
}

/// An array that is like another one is cropped and flipped as that is, which may be declared after it; and all arrays
/// are checked once that is known.
void Plan::join_to_array(std::size_t number) {
  ViewPlan& view = views_[number];
  ArrayProgram& array = view.array;
  const std::string& like = likes_[number];
  if (!like.empty()) {
    std::vector<std::string> names;
    const ViewPlan* other = nullptr;
    for (const ViewPlan& each : views_) {
      if (each.kind != ViewKind::kArray || &each == &view) continue;
      names.push_back(each.name);
      if (names.back() == like) other = &each;
    }
    if (!other)
      fail(ErrorKind::kUsage, "view '{}': no view '{}' has an array{}", view.name, like, did_you_mean(like, names));
    if (array.crop || !array.flips.empty()) {
      fail(ErrorKind::kUsage,
           "view '{}': it is cropped and flipped as view '{}' is; leave out its own array_crop and array_flip",
           view.name, like);
    }
    if (!likes_[static_cast<std::size_t>(other - views_.data())].empty()) {
      fail(ErrorKind::kUsage, "view '{}': view '{}' is itself like another view; name that other view in like",
           view.name, like);
    }
    array.crop = other->array.crop;
    array.flips = other->array.flips;
    array.like_field = other->field;
    array.like_name = other->array.field;
  }
  try {
    array.check();
    if (view.row_padding && !array.is_ragged()) {
      fail(ErrorKind::kUsage,
           "pad_to is for arrays whose number of rows differs between samples; give decode_array shape=[-1, ...]");
    }
    OutputSpec output = output_of_view(view);
    if (output.row_padding && output.row_padding->room > output.shape[0]) output.shape = array.output_shape();
    if (output.bytes_per_sample() > static_cast<std::size_t>(kOutputBytesMax)) {
      fail(ErrorKind::kLimit, "its output takes more than the limit of {} bytes a sample", kOutputBytesMax);
    }
  } catch (const Error& error) {
    throw error.with_context(fmt::format("view '{}'", view.name));
  }
}

}  // namespace stoker
