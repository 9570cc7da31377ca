#include "stoker/format/usual_image.h"

#include <algorithm>

#include "stoker/format/member_name.h"

namespace stoker {
namespace {

/// Names that bytes of any kind may have, as well as images.
bool names_any_input(std::string_view name) { return name == "x" || name == "data" || name == "encoded"; }

bool names_its_format(const UsualImage::Value& value) {
  return is_image_field_name(value.name) && value.name.find_first_of("./") == std::string_view::npos;
}

}  // namespace

void UsualImage::expect(std::string_view column) {
  for (const std::string_view usual : names_) {
    if (usual == usual_) return;
    if (!names_any_input(usual) && is_called(column, usual)) {
      usual_ = usual;
      return;
    }
  }
}

UsualImage::Choice UsualImage::choose(std::span<const Value> values) {
  if (std::any_of(values.begin(), values.end(), names_its_format)) return {};
  if (is_seen_) {
    const auto damaged = std::find_if(values.begin(), values.end(), [&](const Value& value) {
      return value.is_bytes && value.extension.empty() && is_called(value.name, usual_);
    });
    // What is wrong with it its decoder says.
    if (damaged != values.end()) return {.number = damaged - values.begin(), .extension = extension_};
  }
  const auto begins_as_image = [](const Value& value) { return !value.is_other && !value.extension.empty(); };
  for (const std::string_view name : names_) {
    const auto usual = std::find_if(values.begin(), values.end(), [&](const Value& value) {
      return begins_as_image(value) && is_called(value.name, name);
    });
    if (usual == values.end()) continue;
    if (!is_seen_) usual_ = name;
    is_seen_ = true;
    extension_ = usual->extension;
    return {.number = usual - values.begin(), .extension = extension_};
  }
  if (!usual_.empty()) return {.is_missing = true};
  const auto only = std::find_if(values.begin(), values.end(), begins_as_image);
  if (only == values.end() || std::any_of(only + 1, values.end(), begins_as_image)) return {};
  return {.number = only - values.begin(), .extension = only->extension};
}

}  // namespace stoker
