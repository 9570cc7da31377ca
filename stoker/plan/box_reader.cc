#include "stoker/plan/box_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/json_values.h"
#include "stoker/base/parse_number.h"

namespace stoker {
namespace {

/// An object of COCO's, as far as its values have come.
struct CocoObject {
  std::array<std::optional<double>, 4> box;
  std::optional<std::int64_t> label;
  bool is_crowd = false;
};

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

void take(const nlohmann::json& value, std::string_view member, CocoObject& object) {
  if (member == "category_id" && value.is_number_integer()) {
    object.label = value.get<std::int64_t>();
  } else if (member == "iscrowd" && value.is_number_integer()) {
    object.is_crowd = value.get<std::int64_t>() != 0;
  } else if (member.starts_with("bbox/") && value.is_number()) {
    const std::optional<std::size_t> side = parse_number<std::size_t>(member.substr(5));
    if (side && *side < object.box.size()) object.box[*side] = value.get<double>();
  }
}

void read_coco(std::string_view text, std::vector<LabeledBox>& boxes) {
  std::vector<CocoObject> objects;
  std::optional<std::string> list;
  const bool whole = for_each_json_value(text, [&](const std::string& pointer, const nlohmann::json& value) {
    if (value.is_array() && (pointer.empty() || pointer == "/annotations")) {
      list = pointer;
      objects.clear();  // what it was before: of equal keys the last one counts
    }
    const std::optional<CocoPlace> place = list ? coco_place(pointer, *list) : std::nullopt;
    if (!place || place->object > objects.size()) return;
    if (place->object == objects.size()) objects.emplace_back();  // each comes before what it holds
    take(value, place->member, objects[place->object]);
  });
  if (!whole) fail(ErrorKind::kBadSample, "its JSON is damaged");
  if (!list) fail(ErrorKind::kBadSample, "its JSON is neither a list of objects, nor has one named 'annotations'");
  for (const CocoObject& object : objects) {
    const auto& [x, y, width, height] = object.box;
    if (!x || !y || !width || !height || !object.label) {
      fail(ErrorKind::kBadSample, "an object in its JSON has no bbox of four numbers, or no category_id");
    }
    boxes.push_back({*x, *y, *x + *width, *y + *height, *object.label, object.is_crowd});
  }
}

std::int64_t class_of(std::string_view name, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return found - names.begin();
  fail(ErrorKind::kBadSample, "an object in its XML is of the class '{}', which names has not", name.substr(0, 40));
}

void read_voc(Bytes text, const std::vector<std::string>& names, std::vector<LabeledBox>& boxes) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (parsed.status == pugi::status_out_of_memory) fail(ErrorKind::kMemory, "no memory for the XML of its boxes");
  const pugi::xml_node root = document.child("annotation");
  if (!parsed || !root) fail(ErrorKind::kBadSample, "its XML is damaged, or is not an <annotation>");
  for (const pugi::xml_node& object : root.children("object")) {
    const pugi::xml_node place = object.child("bndbox");
    const auto side = [&](const char* name) {
      const std::optional<double> number = parse_number<double>(place.child_value(name));
      if (!number) fail(ErrorKind::kBadSample, "an object in its XML has no bndbox of four numbers");
      return *number;
    };
    const bool difficult = std::string_view(object.child_value("difficult")) == "1";
    boxes.push_back({side("xmin") - 1, side("ymin") - 1, side("xmax"), side("ymax"),
                     class_of(object.child_value("name"), names), difficult});
  }
}

std::string_view next_word(std::string_view& line) {
  constexpr std::string_view kBlank = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlank));
  line.remove_prefix(word.size());
  return word;
}

void read_yolo(std::string_view text, ImageSize image, std::vector<LabeledBox>& boxes) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view first = next_word(line);
    if (first.empty()) continue;
    const std::optional<std::int64_t> label = parse_number<std::int64_t>(first);
    std::array<double, 4> fraction{};
    bool good = label.has_value();
    for (double& value : fraction) {
      const std::optional<double> number = parse_number<double>(next_word(line));
      good &= number.has_value();
      value = number.value_or(0);
    }
    if (!good) fail(ErrorKind::kBadSample, "a line of its boxes is not a class and four numbers");
    const double width = fraction[2] * image.width, height = fraction[3] * image.height;
    const double left = fraction[0] * image.width - width / 2, top = fraction[1] * image.height - height / 2;
    boxes.push_back({left, top, left + width, top + height, *label});
  }
}

}  // namespace

void read_boxes(const BoxOptions& options, Bytes text, ImageSize image, std::vector<LabeledBox>& boxes) {
  boxes.clear();
  switch (options.source) {
    case BoxOptions::Source::kCoco: read_coco(as_text(text), boxes); break;
    case BoxOptions::Source::kVoc: read_voc(text, options.names, boxes); break;
    case BoxOptions::Source::kYolo: read_yolo(as_text(text), image, boxes); break;
  }
  const auto is_left_out = [&](const LabeledBox& box) {
    const double sides = box.left + box.top + box.right + box.bottom;
    const bool is_box = std::isfinite(sides) && box.width() > 0 && box.height() > 0;
    return !is_box || (box.is_crowd && !options.keeps_crowds);
  };
  boxes.erase(std::remove_if(boxes.begin(), boxes.end(), is_left_out), boxes.end());
}

}  // namespace stoker
