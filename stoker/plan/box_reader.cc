#include "stoker/plan/box_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <pugixml.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/base/trimmed.h"
#include "stoker/format/class_number.h"

namespace stoker {
namespace {

void read_coco(std::string_view text, bool may_lack, std::vector<LabeledBox>& boxes,
               std::vector<ObjectDetails>* details) {
  for (CocoObject& object : read_coco_objects(text, details != nullptr, may_lack)) {
    const auto& [x, y, width, height] = object.box;
    boxes.push_back({*x, *y, *x + *width, *y + *height, *object.label, object.is_crowd, object.id});
    if (details) details->push_back(std::move(object.details));
  }
}

std::optional<double> finite_number(std::string_view text) {
  const std::optional<double> number = parse_number<double>(trimmed(text));
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::int64_t class_of(std::string_view name, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return found - names.begin();
  fail(ErrorKind::kBadSample, "an object in its XML is of the class '{}', which is not in names; add it to names",
       name.substr(0, 40));
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
      const std::optional<double> number = finite_number(place.child_value(name));
      if (!number) fail(ErrorKind::kBadSample, "an object in its XML has no bndbox of four numbers");
      return *number;
    };
    check_number_of_objects(boxes.size() + 1);
    const bool difficult = trimmed(object.child_value("difficult")) == "1";
    boxes.push_back({side("xmin") - 1, side("ymin") - 1, side("xmax"), side("ymax"),
                     class_of(trimmed(object.child_value("name")), names), difficult});
  }
}

std::string_view next_word(std::string_view& line) {
  constexpr std::string_view kBlank = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlank));
  line.remove_prefix(word.size());
  return word;
}

/// The box around the corners of an outline, x and y in turn.
LabeledBox box_around(std::span<const double> corners) {
  LabeledBox box{corners[0], corners[1], corners[0], corners[1]};
  for (std::size_t i = 0; i < corners.size(); i += 2) {
    box.left = std::min(box.left, corners[i]);
    box.right = std::max(box.right, corners[i]);
    box.top = std::min(box.top, corners[i + 1]);
    box.bottom = std::max(box.bottom, corners[i + 1]);
  }
  return box;
}

/// Whether numbers that may be corners are a box and its keypoints (x, y, visibility): every third of these is 0 or 1,
/// which so many corners never are.
bool are_keypoints(const std::vector<double>& fractions) {
  constexpr std::size_t kBox = 4, kKeypoint = 3, kKeypointsMin = 4;
  if (fractions.size() < kBox + kKeypoint * kKeypointsMin || (fractions.size() - kBox) % kKeypoint != 0) return false;
  for (std::size_t i = kBox + kKeypoint - 1; i < fractions.size(); i += kKeypoint) {
    if (fractions[i] != 0 && fractions[i] != 1) return false;
  }
  return true;
}

void read_yolo(std::string_view text, ImageSize image, std::vector<LabeledBox>& boxes) {
  constexpr std::size_t kNumbersOfBox = 4, kNumbersOfOutline = 6;  // at least
  constexpr double kRounding = 0.01;                               // beyond the image
  constexpr std::string_view kCannotRead = "boxes in pixels and lines with keypoints cannot be read";
  std::vector<double> numbers, fractions;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find_first_of("\r\n"));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view first = next_word(line);
    if (first.empty()) continue;
    const std::optional<std::int64_t> label = parse_class_number(first, first.size());
    bool good = label.has_value();
    numbers.clear();
    fractions.clear();
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      const std::optional<double> number = finite_number(word);
      good &= number.has_value();
      if (number && (*number < -kRounding || *number > 1 + kRounding)) {
        fail(ErrorKind::kBadSample, "a line of its boxes has {}, which is not a fraction of the image from 0 to 1 ({})",
             word.substr(0, 40), kCannotRead);
      }
      fractions.push_back(number.value_or(0));
      numbers.push_back(number.value_or(0) * (numbers.size() % 2 == 0 ? image.width : image.height));
    }
    const bool is_outline = numbers.size() >= kNumbersOfOutline && numbers.size() % 2 == 0;
    if (!good || !(numbers.size() == kNumbersOfBox || is_outline)) {
      fail(ErrorKind::kBadSample,
           "a line of its boxes is not a class and four numbers, nor a class and the corners of an outline");
    }
    if (are_keypoints(fractions)) {
      fail(ErrorKind::kBadSample, "a line of its boxes has keypoints ({})", kCannotRead);
    }
    LabeledBox box;
    if (is_outline) {
      box = box_around(numbers);
    } else {
      const double left = numbers[0] - numbers[2] / 2, top = numbers[1] - numbers[3] / 2;
      box = {left, top, left + numbers[2], top + numbers[3]};
    }
    box.label = *label;
    check_number_of_objects(boxes.size() + 1);
    boxes.push_back(box);
  }
}

}  // namespace

void read_boxes(const BoxOptions& options, Bytes text, ImageSize image, std::vector<LabeledBox>& boxes,
                std::vector<ObjectDetails>* details) {
  boxes.clear();
  if (details) details->clear();
  if (text.empty() && options.is_optional) return;
  switch (options.source) {
    case BoxOptions::Source::kCoco: read_coco(as_text(text), options.is_optional, boxes, details); break;
    case BoxOptions::Source::kVoc: read_voc(text, options.names, boxes); break;
    case BoxOptions::Source::kYolo: read_yolo(as_text(text), image, boxes); break;
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) boxes[i].number = i;
  const auto is_left_out = [&](const LabeledBox& box) {
    const double sides = box.left + box.top + box.right + box.bottom;
    const bool is_box = std::isfinite(sides) && box.width() > 0 && box.height() > 0;
    return !is_box || (box.is_crowd && !options.keeps_crowds);
  };
  boxes.erase(std::remove_if(boxes.begin(), boxes.end(), is_left_out), boxes.end());
}

}  // namespace stoker
