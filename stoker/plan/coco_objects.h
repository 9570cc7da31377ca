// The objects of a sample as COCO's annotations describe them, in JSON.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/codec/object_mask.h"
#include "stoker/ops/geometry.h"

namespace stoker {

/// What is said of an object besides its box and its class: its shape, and its keypoints.
struct ObjectDetails {
  enum class ShapeKind : std::uint8_t { kNone, kOutlines, kRuns, kCodedRuns };

  ShapeKind shape = ShapeKind::kNone;
  std::vector<std::vector<double>> outlines{};  // x, y, x, y, ... of each
  std::vector<std::int64_t> runs{};             // as ObjectMask takes them, here and below
  std::string coded_runs{};
  std::vector<std::int64_t> size{};  // height and width of the image of which these are runs
  std::vector<double> points{};      // x, y and visibility of each
};

/// More than any picture shows.
inline constexpr std::size_t kObjectsMax = 100'000;

/// Throws kBadSample if a sample has more.
void check_number_of_objects(std::size_t objects);

struct CocoObject {
  std::array<std::optional<double>, 4> box;  // x, y, width, height: all are there, and the label
  std::optional<std::int64_t> label, id;
  bool is_crowd = false;
  ObjectDetails details{};
};

/// The objects of a list, or of one named `annotations` or `segments_info`; or else of lists named `bbox` and
/// `category` (`categories`, `category_id`), which may be in an object named `objects`, as Hugging Face's data sets
/// have them. Throws kBadSample for a text that is damaged or has none of them, for objects without a box or a label,
/// and for more than kObjectsMax; if `with_details`, for shapes and keypoints of another form. If it `may_lack` them,
/// null stands for none.
std::vector<CocoObject> read_coco_objects(std::string_view text, bool with_details, bool may_lack = false);

/// Makes the mask of an object in an image of this size. Throws kBadSample for an object without a shape, and for one
/// that is not sound or has another size.
void read_shape(const ObjectDetails& object, ImageSize image, ObjectMask& mask);

}  // namespace stoker
