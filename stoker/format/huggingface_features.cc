#include "stoker/format/huggingface_features.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include "stoker/base/json_values.h"
#include "stoker/format/field_names.h"
#include "stoker/format/json_text.h"
#include "stoker/format/tfrecord/example_rows.h"

namespace stoker {
namespace {

/// The key that a JSON pointer's step stands for.
std::string key_of_step(std::string_view step) {
  std::string key;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const bool escaped = step[i] == '~' && i + 1 < step.size();
    key += !escaped ? step[i] : step[++i] == '1' ? '/' : '~';
  }
  return key;
}

}  // namespace

std::map<std::string, std::vector<std::string>, std::less<>> class_names_of(std::string_view huggingface) {
  constexpr std::string_view kFeatures = "/info/features/", kType = "/_type", kNames = "/names/";
  std::map<std::string, std::vector<std::string>, std::less<>> names;
  std::map<std::string, bool, std::less<>> is_class;
  const bool is_json = for_each_json_value(huggingface, [&](const std::string& pointer, nlohmann::json value) {
    if (!pointer.starts_with(kFeatures) || !value.is_string()) return;
    const std::string_view place = std::string_view(pointer).substr(kFeatures.size());
    const std::size_t end = place.substr(0, kNameBytesMax + 1).find('/');
    if (end == std::string_view::npos) return;
    const std::string column = key_of_step(place.substr(0, end));
    const std::string_view rest = place.substr(end);
    if (rest == kType) is_class[column] = value == "ClassLabel";
    if (rest.starts_with(kNames) && rest.find('/', kNames.size()) == std::string_view::npos) {
      names[column].push_back(std::move(value.get_ref<std::string&>()));
    }
  });
  if (!is_json) return {};
  std::erase_if(names, [&](const auto& column) { return !is_class[column.first]; });
  return names;
}

std::optional<LabelColumn> label_column(std::span<const IntegerColumn> columns, std::string_view huggingface) {
  auto class_names = class_names_of(huggingface);
  std::vector<std::string_view> usual = kLabelFeatures;
  usual.insert(usual.end(), {"labels", "fine_label"});
  const auto find = [&](const auto& is_it) { return std::find_if(columns.begin(), columns.end(), is_it); };
  auto found = columns.end();
  for (std::size_t i = 0; i < usual.size() && found == columns.end(); ++i) {
    found = find([&](const IntegerColumn& column) { return column.name == usual[i]; });
  }
  if (found == columns.end() && class_names.size() == 1) {
    found = find([&](const IntegerColumn& column) { return column.path == class_names.begin()->first; });
  }
  if (found == columns.end()) return std::nullopt;
  LabelColumn label{.number = static_cast<std::size_t>(found - columns.begin())};
  const auto names = class_names.find(found->path);
  if (names != class_names.end()) label.classes = std::move(names->second);
  return label;
}

std::string huggingface_text(const std::vector<HuggingfaceFeature>& features, const std::vector<std::string>& classes) {
  using Json = nlohmann::ordered_json;
  const std::set<std::string> different(classes.begin(), classes.end());
  const bool are_names =
      !classes.empty() && different.size() == classes.size() &&
      std::all_of(classes.begin(), classes.end(), [](const std::string& name) { return is_utf8(name); });
  Json described = Json::object();
  for (const HuggingfaceFeature& feature : features) {
    Json& into = described[feature.column];
    switch (feature.kind) {
      case HuggingfaceFeature::Kind::kImage: into = {{"_type", "Image"}}; break;
      case HuggingfaceFeature::Kind::kText: into = {{"dtype", "string"}, {"_type", "Value"}}; break;
      case HuggingfaceFeature::Kind::kBytes: into = {{"dtype", "binary"}, {"_type", "Value"}}; break;
      case HuggingfaceFeature::Kind::kClass:
        into = are_names ? Json{{"names", classes}, {"_type", "ClassLabel"}}
                         : Json{{"dtype", "int64"}, {"_type", "Value"}};
        break;
    }
  }
  return Json{{"info", {{"features", std::move(described)}}}}.dump();
}

}  // namespace stoker
