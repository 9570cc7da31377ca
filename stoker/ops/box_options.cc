#include "stoker/ops/box_options.h"

#include <algorithm>
#include <string_view>

#include "stoker/base/error.h"

namespace stoker {
namespace {

constexpr std::string_view kVocNames =
    "aeroplane,bicycle,bird,boat,bottle,bus,car,cat,chair,cow,diningtable,dog,horse,motorbike,person,pottedplant,sheep,"
    "sofa,train,tvmonitor";

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  for (;;) {
    const std::size_t comma = list.find(',');
    std::string_view name = list.substr(0, comma);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (name.empty()) fail(ErrorKind::kUsage, "names has an empty name");
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      fail(ErrorKind::kUsage, "names has '{}' twice", name);
    }
    names.emplace_back(name);
    if (comma == std::string_view::npos) return names;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

void apply_decode_boxes(const OperatorCall& call, BoxOptions& options) {
  using Source = BoxOptions::Source;
  using Form = BoxOptions::Form;
  const std::string &source = call.text("source"), &form = call.text("form"), &names = call.text("names");
  options.source = source == "voc" ? Source::kVoc : source == "yolo" ? Source::kYolo : Source::kCoco;
  options.form = form == "xywh" ? Form::kCornerAndSize : form == "cxcywh" ? Form::kMiddleAndSize : Form::kCorners;
  options.fractions = call.flag("fractions");
  options.size_min = call.number("min_size");
  options.visible_min = call.number("min_visible");
  options.keeps_crowds = call.text("crowds") == "keep";
  options.most = call.integer("most");
  if (options.source == Source::kVoc) options.names = names_in(names == "voc" ? kVocNames : std::string_view(names));
}

void apply_box_labels(const OperatorCall& /*call*/, BoxOptions& /*options*/) {}

}  // namespace stoker
