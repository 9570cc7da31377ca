#include "stoker/ops/box_options.h"

#include <algorithm>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/ops/argument_text.h"

namespace stoker {
namespace {

constexpr std::string_view kVocNames =
    "aeroplane,bicycle,bird,boat,bottle,bus,car,cat,chair,cow,diningtable,dog,horse,motorbike,person,pottedplant,sheep,"
    "sofa,train,tvmonitor";

std::vector<std::string> class_names(std::string_view list) {
  std::vector<std::string> names = names_in(list);
  for (const std::string& name : names) {
    if (name.empty()) fail(ErrorKind::kUsage, "names has an empty name");
    if (std::count(names.begin(), names.end(), name) > 1) {
      fail(ErrorKind::kUsage, "names has '{}' twice", name);
    }
  }
  return names;
}

}  // namespace

BoxOptions box_options_of(const OperatorCall& call) {
  using Source = BoxOptions::Source;
  using Form = BoxOptions::Form;
  const std::string &source = call.text("source"), &form = call.text("form"), &names = call.text("names");
  BoxOptions options;
  options.source = source == "voc" ? Source::kVoc : source == "yolo" ? Source::kYolo : Source::kCoco;
  options.form = form == "xywh" ? Form::kCornerAndSize : form == "cxcywh" ? Form::kMiddleAndSize : Form::kCorners;
  options.fractions = call.flag("fractions");
  options.size_min = call.number("min_size");
  options.visible_min = call.number("min_visible");
  options.middle_seen = call.flag("middle_seen");
  options.keeps_crowds = call.text("crowds") == "keep";
  options.most = call.integer("most");
  if (options.source == Source::kVoc) options.names = class_names(names == "voc" ? kVocNames : std::string_view(names));
  return options;
}

}  // namespace stoker
