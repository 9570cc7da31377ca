#include "stoker/ops/object_options.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/ops/argument_text.h"

namespace stoker {
namespace {

// Of COCO's persons: after the nose, the left and the right of eyes, ears, shoulders and so on.
constexpr std::size_t kCocoPoints = 17;
constexpr std::string_view kCocoFlipPairs = "1-2,3-4,5-6,7-8,9-10,11-12,13-14,15-16";

std::vector<std::size_t> mirror_of(std::string_view pairs, std::size_t count) {
  std::vector<std::size_t> mirror(count);
  std::iota(mirror.begin(), mirror.end(), std::size_t{0});
  for (const std::string& pair : names_in(pairs)) {
    const std::size_t dash = std::min(pair.find('-'), pair.size());
    const auto left = parse_number<std::size_t>(std::string_view(pair).substr(0, dash));
    const auto right = parse_number<std::size_t>(std::string_view(pair).substr(std::min(dash + 1, pair.size())));
    if (!left || !right) fail(ErrorKind::kUsage, "flip_pairs is written as in '1-2,3-4', and '{}' is no pair", pair);
    if (*left >= count || *right >= count) {
      fail(ErrorKind::kUsage, "flip_pairs has '{}', and the points are 0 to {}", pair, count - 1);
    }
    if (*left == *right || mirror[*left] != *left || mirror[*right] != *right) {
      fail(ErrorKind::kUsage, "flip_pairs has a point twice: '{}'", pair);
    }
    std::swap(mirror[*left], mirror[*right]);
  }
  return mirror;
}

}  // namespace

void apply_decode_boxes(const OperatorCall& call, ObjectOptions& options) { options.boxes = box_options_of(call); }

void apply_box_labels(const OperatorCall& /*call*/, ObjectOptions& /*options*/) {}

void apply_decode_keypoints(const OperatorCall& call, ObjectOptions& options) {
  PointOptions& points = options.points;
  points.count = static_cast<std::size_t>(call.integer("points"));
  points.fractions = call.flag("fractions");
  std::string_view pairs = call.text("flip_pairs");
  if (pairs == "coco" && points.count != kCocoPoints) {
    fail(ErrorKind::kUsage, "flip_pairs='coco' is for {} points, and there are {}: write '1-2,3-4', or 'none'",
         kCocoPoints, points.count);
  }
  if (pairs == "coco") pairs = kCocoFlipPairs;
  if (pairs == "none") pairs = {};
  points.mirror = mirror_of(pairs, points.count);
}

void apply_decode_instances(const OperatorCall& call, ObjectOptions& options) {
  const std::string& source = call.text("source");
  options.instances = source == "ids"       ? InstanceSource::kIds
                      : source == "rgb_ids" ? InstanceSource::kRgbIds
                                            : InstanceSource::kShapes;
}

}  // namespace stoker
