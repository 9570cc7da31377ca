#include "stoker/format/field_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/format/dataset_views.h"
#include "stoker/format/field_texts.h"
#include "stoker/format/labels.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

/// As formats write names of fields.
std::string as_field_name(std::string_view name) {
  std::string field;
  assign_lower_case(field, name);
  std::replace(field.begin(), field.end(), '/', '.');
  return field;
}

/// `finds`: whether a row that has these fields has the chosen one.
template <typename Finds>
std::string resolve(const std::string& name, const std::vector<std::string>& fields,
                    std::initializer_list<std::string_view> usual, const Finds& finds) {
  if (name.empty()) return {};
  SampleRow all;
  for (const std::string& field : fields) all.fields.push_back({.name = field, .part = {}});
  std::string wanted = as_field_name(name);
  if (finds(all, wanted)) return wanted;
  if (std::find(usual.begin(), usual.end(), wanted) != usual.end()) return {};
  fail(ErrorKind::kUsage,
       "there is no field '{}' in the data set, which has {}; if it is the column that already became the {}, leave "
       "the choice out",
       name, fields.empty() ? "none" : fmt::format("'{}'", fmt::join(fields, "', '")), *usual.begin());
}

}  // namespace

FieldChoice resolved(const FieldChoice& choice, const std::vector<std::string>& fields) {
  const auto finds_image = [](SampleRow& row, std::string_view name) {
    row.image_name = name;
    return row.image_field() != nullptr;
  };
  const auto finds_label = [](const SampleRow& row, std::string_view name) {
    return label_field(row, name) != nullptr;
  };
  return {.image = resolve(choice.image, fields, {"image"}, finds_image),
          .label = resolve(choice.label, fields, {"label", "cls"}, finds_label)};
}

std::shared_ptr<const Dataset> with_fields(std::shared_ptr<const Dataset> data, const FieldChoice& choice,
                                           const std::stop_token& stop) {
  if (data->size() == 0) return data;
  const FieldChoice fields = resolved(choice, data->field_names());
  if (!fields.image.empty()) data = with_image(std::move(data), fields.image, stop);
  if (fields.label.empty()) return data;
  Labels labels = labels_of_field(*data, fields.label, stop);
  return with_labels(std::move(data), std::move(labels.numbers), std::move(labels.classes), stop);
}

}  // namespace stoker
