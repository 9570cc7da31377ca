#include "stoker/plan/coco_objects.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "stoker/base/error.h"
#include "stoker/base/json_values.h"
#include "stoker/base/parse_number.h"

namespace stoker {
namespace {

using CocoValue = nlohmann::json;

/// Where the objects may be: of one image, of several, and of COCO's panoptic ones.
constexpr std::string_view kObjectLists[] = {"", "/annotations", "/segments_info", "/0/segments_info"};

/// Which object of the list, and what of it.
struct CocoPlace {
  std::size_t object;
  std::string_view member;  // "bbox/0"; empty: the object itself
};

/// `list`: where the list is. "/annotations/3/bbox/0" is the first number of the fourth object's box.
std::optional<CocoPlace> coco_place(std::string_view pointer, std::string_view list) {
  if (!pointer.starts_with(list)) return std::nullopt;
  pointer.remove_prefix(list.size());
  if (!pointer.starts_with('/')) return std::nullopt;
  pointer.remove_prefix(1);
  const std::size_t slash = pointer.find('/');
  const std::optional<std::size_t> object = parse_number<std::size_t>(pointer.substr(0, slash));
  if (!object) return std::nullopt;
  return CocoPlace{*object, slash == std::string_view::npos ? std::string_view() : pointer.substr(slash + 1)};
}

/// Also where a script wrote 2.0, "2" or true.
std::optional<std::int64_t> whole_number(const CocoValue& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_string()) return parse_number<std::int64_t>(value.get_ref<const std::string&>());
  if (!value.is_number_float()) return std::nullopt;
  constexpr double kExactMost = 0x1p53;
  const auto number = value.get<double>();
  const bool is_whole = std::abs(number) <= kExactMost && number == std::trunc(number);
  return is_whole ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
}

void take(const CocoValue& value, std::string_view member, CocoObject& object) {
  if (member == "category_id") {
    if (const auto label = whole_number(value)) object.label = label;
  } else if (member == "id") {
    if (const auto id = whole_number(value)) object.id = id;
  } else if (member == "iscrowd") {
    object.is_crowd = whole_number(value).value_or(0) != 0;
  } else if (member.starts_with("bbox/") && value.is_number()) {
    const std::optional<std::size_t> side = parse_number<std::size_t>(member.substr(5));
    if (side && *side < object.box.size()) object.box[*side] = value.get<double>();
  }
}

[[noreturn]] void refuse_shape() {
  fail(ErrorKind::kBadSample,
       "an object's segmentation is neither outlines of numbers, nor runs of a mask with their counts and size");
}

template <typename Number>
void take_number(const CocoValue& value, std::vector<Number>& numbers) {
  if (!(std::is_floating_point_v<Number> ? value.is_number() : value.is_number_integer())) refuse_shape();
  numbers.push_back(value.get<Number>());
}

/// `place`: within the segmentation; empty, "/0", "/0/17".
void take_outline(const CocoValue& value, std::string_view place, ObjectDetails& details) {
  if (place.find('/', 1) != std::string_view::npos) return take_number(value, details.outlines.back());
  if (!value.is_array()) refuse_shape();
  details.outlines.emplace_back();
}

/// "/counts", "/counts/17", "/size", "/size/0".
void take_runs(const CocoValue& value, std::string_view place, ObjectDetails& details) {
  using ShapeKind = ObjectDetails::ShapeKind;
  if (place == "/counts") {
    details.runs.clear();
    details.shape = value.is_string() ? ShapeKind::kCodedRuns : ShapeKind::kRuns;
    if (value.is_string()) {
      details.coded_runs = value.get<std::string>();
    } else if (!value.is_array()) {
      refuse_shape();
    }
  } else if (place == "/size") {
    if (!value.is_array()) refuse_shape();
    details.size.clear();
  } else if (place.starts_with("/counts/")) {
    take_number(value, details.runs);
  } else if (place.starts_with("/size/")) {
    take_number(value, details.size);
  }
}

void take_shape(const CocoValue& value, std::string_view place, ObjectDetails& details) {
  using ShapeKind = ObjectDetails::ShapeKind;
  if (place.empty()) {
    details.outlines.clear();
    details.runs.clear();
    details.size.clear();
    details.shape = value.is_array() ? ShapeKind::kOutlines : value.is_object() ? ShapeKind::kRuns : ShapeKind::kNone;
    if (!value.is_structured() && !value.is_null()) refuse_shape();
  } else if (details.shape == ShapeKind::kOutlines) {
    take_outline(value, place, details);
  } else {
    take_runs(value, place, details);
  }
}

void take_points(const CocoValue& value, std::string_view place, std::vector<double>& points) {
  if (place.empty() && (value.is_array() || value.is_null())) return points.clear();
  if (place.empty() || !value.is_number())
    fail(ErrorKind::kBadSample, "an object's keypoints are not a list of numbers");
  points.push_back(value.get<double>());
}

void take_details(const CocoValue& value, std::string_view member, ObjectDetails& details) {
  constexpr std::string_view kShape = "segmentation", kPoints = "keypoints";
  const std::string_view name = member.substr(0, member.find('/'));
  if (name == kShape) take_shape(value, member.substr(kShape.size()), details);
  if (name == kPoints) take_points(value, member.substr(kPoints.size()), details.points);
}

bool is_whole(const CocoObject& object) {
  return object.label &&
         std::all_of(object.box.begin(), object.box.end(), [](const auto& side) { return side.has_value(); });
}

void require_whole(const CocoObject& object) {
  if (is_whole(object)) return;
  fail(ErrorKind::kBadSample, "an object in its JSON has no bbox of four numbers, or no category_id");
}

}  // namespace

std::vector<CocoObject> read_coco_objects(std::string_view text, bool with_details, bool may_lack) {
  std::vector<CocoObject> objects;
  std::optional<std::string> list;
  bool is_null = false;  // in the place of a list
  const bool whole = for_each_json_value(text, [&](const std::string& pointer, const CocoValue& value) {
    const bool is_place =
        std::find(std::begin(kObjectLists), std::end(kObjectLists), pointer) != std::end(kObjectLists);
    is_null |= is_place && value.is_null();
    if (is_place && value.is_array()) {
      list = pointer;
      objects.clear();  // what it was before: of equal keys the last one counts
    }
    const std::optional<CocoPlace> place = list ? coco_place(pointer, *list) : std::nullopt;
    if (!place || place->object > objects.size()) return;
    if (place->object == objects.size()) {                  // each comes before what it holds
      if (!objects.empty()) require_whole(objects.back());  // at once: an object takes more memory than "{},"
      objects.emplace_back();
    }
    take(value, place->member, objects[place->object]);
    if (with_details) take_details(value, place->member, objects[place->object].details);
  });
  if (!whole) fail(ErrorKind::kBadSample, "its JSON is damaged");
  if (!list && is_null && may_lack) return {};
  if (!list) fail(ErrorKind::kBadSample, "its JSON is neither a list of objects, nor has one named 'annotations'");
  if (!objects.empty()) require_whole(objects.back());
  return objects;
}

void read_shape(const ObjectDetails& object, ImageSize image, ObjectMask& mask) {
  using ShapeKind = ObjectDetails::ShapeKind;
  if (object.shape == ShapeKind::kNone) {
    fail(ErrorKind::kBadSample, "an object in its JSON has no segmentation, and masks of its objects are asked for");
  }
  mask.start(image.width, image.height);
  if (object.shape == ShapeKind::kOutlines) {
    for (const std::vector<double>& outline : object.outlines) mask.add_outline(outline);
  } else {
    if (object.size != std::vector<std::int64_t>{image.height, image.width}) {
      fail(ErrorKind::kBadSample, "the mask of an object has another size than its image of {} x {} pixels",
           image.width, image.height);
    }
    if (object.shape == ShapeKind::kRuns) mask.add_runs(object.runs);
    if (object.shape == ShapeKind::kCodedRuns) mask.add_coded_runs(object.coded_runs);
  }
  mask.finish();
}

}  // namespace stoker
