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

/// Whether a place is that of the member, or in it. A key may be as long as the text, and what is in it has as many
/// places: so none is searched for its end.
bool is_in(std::string_view place, std::string_view member) {
  return place.starts_with(member) && (place.size() == member.size() || place[member.size()] == '/');
}

/// `list`: where the list is. "/annotations/3/bbox/0" is the first number of the fourth object's box.
std::optional<CocoPlace> coco_place(std::string_view pointer, std::string_view list) {
  constexpr std::size_t kDigitsMax = 20;
  if (!pointer.starts_with(list)) return std::nullopt;
  pointer.remove_prefix(list.size());
  if (!pointer.starts_with('/')) return std::nullopt;
  pointer.remove_prefix(1);
  const std::string_view begin = pointer.substr(0, kDigitsMax + 1);
  const std::size_t slash = begin.find('/');
  const std::optional<std::size_t> object = parse_number<std::size_t>(begin.substr(0, slash));
  if (!object) return std::nullopt;
  return CocoPlace{*object, slash == std::string_view::npos ? std::string_view() : pointer.substr(slash + 1)};
}

/// Also where a script wrote 2.0, "2" or true.
std::optional<std::int64_t> whole_number(const CocoValue& value) {
  if (value.is_number_integer()) return as_whole_number<std::int64_t>(value);
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_string()) return parse_number<std::int64_t>(value.get_ref<const std::string&>());
  return as_whole_float(value);
}

bool is_class(std::string_view member) {
  return member == "category_id" || member == "category" || member == "categories";
}

/// Of a step that names a side of a box: "0" to "3".
std::optional<std::size_t> side_of(std::string_view step) {
  if (step.size() != 1 || step[0] < '0' || step[0] > '3') return std::nullopt;
  return static_cast<std::size_t>(step[0] - '0');
}

void take(const CocoValue& value, std::string_view member, CocoObject& object) {
  if (is_class(member)) {
    if (const auto label = whole_number(value)) object.label = label;
  } else if (member == "id") {
    if (const auto id = whole_number(value)) object.id = id;
  } else if (member == "iscrowd") {
    object.is_crowd = whole_number(value).value_or(0) != 0;
  } else if (member.starts_with("bbox/") && value.is_number()) {
    if (const std::optional<std::size_t> side = side_of(member.substr(5))) object.box[*side] = value.get<double>();
  }
}

[[noreturn]] void refuse_shape() {
  fail(ErrorKind::kBadSample,
       "an object's segmentation is neither outlines of numbers, nor runs of a mask with their counts and size");
}

template <typename Number>
void take_number(const CocoValue& value, std::vector<Number>& numbers) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (!value.is_number()) refuse_shape();
    numbers.push_back(value.get<Number>());
  } else {
    const std::optional<Number> number = as_whole_number<Number>(value);
    if (!number) refuse_shape();
    numbers.push_back(*number);
  }
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

void take_details(const CocoValue& value, std::string_view place, ObjectDetails& details) {
  constexpr std::string_view kShape = "segmentation", kPoints = "keypoints";
  if (is_in(place, kShape)) take_shape(value, place.substr(kShape.size()), details);
  if (is_in(place, kPoints)) take_points(value, place.substr(kPoints.size()), details.points);
}

bool is_whole(const CocoObject& object) {
  return object.label &&
         std::all_of(object.box.begin(), object.box.end(), [](const auto& side) { return side.has_value(); });
}

void require_whole(const CocoObject& object) {
  if (is_whole(object)) return;
  fail(ErrorKind::kBadSample,
       "an object in its JSON has no bbox of four numbers, or no category_id or category that is a number");
}

/// Objects as columns: {"bbox": [[x, y, width, height], ...], "category": [...]}.
class ObjectColumns {
 public:
  /// `place`: within the columns, "/bbox/3/0".
  void take(const CocoValue& value, std::string_view place) {
    for (const std::string_view list : {"/bbox", "/category_id", "/category", "/categories", "/id", "/iscrowd"}) {
      if (is_in(place, list)) return take_of_list(value, place, list);
    }
  }

  bool are_there() const { return boxes_.has_value(); }

  std::vector<CocoObject> objects() const {
    check_number_of_objects(boxes_->size());
    if (boxes_->size() != classes_.size()) {
      fail(ErrorKind::kBadSample, "its JSON has {} boxes in 'bbox', but {} classes in 'category'", boxes_->size(),
           classes_.size());
    }
    std::vector<CocoObject> objects(boxes_->size());
    for (std::size_t i = 0; i < objects.size(); ++i) {
      objects[i].box = (*boxes_)[i];
      objects[i].label = classes_[i];
      if (i < ids_.size()) objects[i].id = ids_[i];
      if (i < crowds_.size()) objects[i].is_crowd = crowds_[i].value_or(0) != 0;
      require_whole(objects[i]);
    }
    return objects;
  }

 private:
  /// Of each list up to one value more than there may be objects: it may be another's, in a text with better ones.
  void take_of_list(const CocoValue& value, std::string_view place, std::string_view list) {
    const std::string_view name = list.substr(1);
    std::vector<std::optional<std::int64_t>>* const numbers = is_class(name)      ? &classes_
                                                              : name == "id"      ? &ids_
                                                              : name == "iscrowd" ? &crowds_
                                                                                  : nullptr;
    if (place == list) {  // of equal keys the last one counts
      if (numbers) numbers->clear();
      if (!numbers) boxes_.reset();
      if (!numbers && value.is_array()) boxes_.emplace();
    } else if (const std::optional<CocoPlace> at = coco_place(place, list)) {
      if (numbers && at->member.empty() && numbers->size() <= kObjectsMax) numbers->push_back(whole_number(value));
      if (!numbers && boxes_) take_box(value, *at);
    }
  }

  void take_box(const CocoValue& value, const CocoPlace& at) {
    if (at.member.empty()) {
      if (boxes_->size() <= kObjectsMax) boxes_->emplace_back();
    } else if (const std::optional<std::size_t> side = side_of(at.member); side && value.is_number()) {
      boxes_->back()[*side] = value.get<double>();
    }
  }

  std::optional<std::vector<decltype(CocoObject::box)>> boxes_;
  std::vector<std::optional<std::int64_t>> classes_, ids_, crowds_;
};

}  // namespace

void check_number_of_objects(std::size_t objects) {
  if (objects > kObjectsMax) {
    fail(ErrorKind::kBadSample, "it has more than {} objects; Stoker reads so many", kObjectsMax);
  }
}

std::vector<CocoObject> read_coco_objects(std::string_view text, bool with_details, bool may_lack) {
  std::vector<CocoObject> objects;
  constexpr std::string_view kColumns = "/objects";
  ObjectColumns plain_columns, nested_columns;
  std::optional<std::string> list;
  bool is_null = false;  // in the place of a list
  const bool whole = for_each_json_value(text, [&](const std::string& pointer, const CocoValue& value) {
    const bool is_place =
        std::find(std::begin(kObjectLists), std::end(kObjectLists), pointer) != std::end(kObjectLists);
    is_null |= (is_place || pointer == kColumns) && value.is_null();
    if (is_place && value.is_array()) {
      list = pointer;
      objects.clear();  // what it was before: of equal keys the last one counts
    }
    if (!list && pointer.starts_with('/')) plain_columns.take(value, pointer);
    if (!list && pointer.starts_with(kColumns) && pointer.size() > kColumns.size()) {
      nested_columns.take(value, std::string_view(pointer).substr(kColumns.size()));
    }
    const std::optional<CocoPlace> place = list ? coco_place(pointer, *list) : std::nullopt;
    if (!place || place->object > objects.size()) return;
    if (place->object == objects.size()) {                  // each comes before what it holds
      if (!objects.empty()) require_whole(objects.back());  // at once: an object takes more memory than "{},"
      objects.emplace_back();
      check_number_of_objects(objects.size());
    }
    take(value, place->member, objects[place->object]);
    if (with_details) take_details(value, place->member, objects[place->object].details);
  });
  if (!whole) fail(ErrorKind::kBadSample, "its JSON is damaged");
  if (!list && nested_columns.are_there()) return nested_columns.objects();
  if (!list && plain_columns.are_there()) return plain_columns.objects();
  if (!list && is_null && may_lack) return {};
  if (!list)
    fail(ErrorKind::kBadSample,
         "its JSON has no objects: it must be a list of them, or have a list 'annotations', or lists 'bbox' and "
         "'category'");
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
