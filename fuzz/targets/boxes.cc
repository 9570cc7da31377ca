// The objects of images: COCO's JSON with shapes and keypoints, Pascal VOC's XML, YOLO's lines.
#include <algorithm>
#include <cmath>

#include "fuzz/fuzz_target.h"
#include "stoker/plan/box_reader.h"
#include "stoker/plan/instance_stage.h"
#include "stoker/plan/point_stage.h"
#include "stoker/plan/reference_companions.h"

namespace stoker {
namespace {

constexpr ImageSize kImage{64, 48};

ImageCourse whole_image() {
  const SamplingMap map = SamplingMap::identity(kImage.width, kImage.height);
  return {.image = kImage, .map = map, .shown = map.image_shown(), .size = kImage, .steps = {}};
}

/// What the fast executor makes of an object, and what the reference makes of it.
void require_same_mask(const LabeledBox& box, const std::vector<ObjectDetails>& details) {
  const ImageCourse course = whole_image();
  std::vector<std::uint8_t> fast(pixels_of(kImage)), plain(fast.size());
  InstanceStage().write(InstanceSource::kShapes, {&box, 1}, details, {}, course, fast);
  const std::vector<std::vector<double>>& outlines = details[box.number].outlines;
  const bool near = std::all_of(outlines.begin(), outlines.end(), [](const std::vector<double>& outline) {
    return std::all_of(outline.begin(), outline.end(), [](double place) { return std::abs(place) < 1000; });
  });
  if (!near) return;  // the reference would walk for long
  reference_instances(InstanceSource::kShapes, {&box, 1}, details, {}, {}, course, plain);
  require_that(fast == plain, "a mask is its outlines and runs");
}

void require_points_inside(const LabeledBox& box, const std::vector<ObjectDetails>& details) {
  PointOptions options{.count = std::clamp<std::size_t>(details[box.number].points.size() / 3, 1, 1000)};
  for (std::size_t i = 0; i < options.count; ++i) options.mirror.push_back(i);
  std::vector<float> numbers(options.count * 3);
  PointStage().write(options, {&box, 1}, details, whole_image(), numbers.data());
  for (std::size_t i = 0; i < numbers.size(); i += 3) {
    require_that(numbers[i] >= -0.5F && numbers[i] < kImage.width, "a point is in the image");
    require_that(numbers[i + 1] >= -0.5F && numbers[i + 1] < kImage.height, "a point is in the image");
    require_that(numbers[i + 2] >= 0, "a point is seen or not");
  }
}

void run(Bytes input) {
  std::vector<LabeledBox> boxes;
  std::vector<ObjectDetails> details;
  for (const BoxOptions::Source source :
       {BoxOptions::Source::kCoco, BoxOptions::Source::kVoc, BoxOptions::Source::kYolo}) {
    accepts({ErrorKind::kBadSample}, [&] {
      read_boxes({.source = source, .keeps_crowds = true, .names = {"dog", "person"}}, input, {640, 480}, boxes);
      for (const LabeledBox& box : boxes) {
        require_that(std::isfinite(box.left) && std::isfinite(box.bottom), "a box has sides");
        require_that(box.width() > 0 && box.height() > 0, "a box holds something");
      }
    });
  }
  boxes.clear();
  accepts({ErrorKind::kBadSample}, [&] {
    read_boxes({.source = BoxOptions::Source::kCoco, .keeps_crowds = true}, input, kImage, boxes, &details);
  });
  for (const LabeledBox& box : boxes) {
    require_that(box.number < details.size(), "an object has details");
    accepts({ErrorKind::kBadSample}, [&] { require_same_mask(box, details); });
    accepts({ErrorKind::kBadSample}, [&] { require_points_inside(box, details); });
  }
}

const AnnounceFuzzTarget kTarget({.name = "boxes", .run = run});

}  // namespace
}  // namespace stoker
