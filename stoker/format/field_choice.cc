#include "stoker/format/field_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/format/dataset_views.h"
#include "stoker/format/field_texts.h"
#include "stoker/format/labels.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

// What columns and features are called that formats take for the image and the label, so that no field has their name.
constexpr std::string_view kUsualImages[] = {"data",        "encoded",   "image.encoded", "image.image",
                                             "image_bytes", "image_raw", "images",        "img",
                                             "imgs",        "picture",   "pixels",        "x"};
constexpr std::string_view kUsualLabels[] = {"class",  "fine_label", "image.class.label", "image.label",
                                             "labels", "target",     "targets",           "y"};

/// As formats write names of fields.
std::string as_field_name(std::string_view name) {
  std::string field;
  assign_lower_case(field, name);
  std::replace(field.begin(), field.end(), '/', '.');
  return field;
}

/// `finds`: whether a row that has these fields has the chosen one. `taken`: names that one may have had which is the
/// image, or the label.
template <typename Finds>
std::string resolve(const std::string& name, const std::vector<std::string>& fields,
                    std::initializer_list<std::string_view> usual, std::span<const std::string_view> taken,
                    const Finds& finds) {
  if (name.empty()) return {};
  SampleRow all;
  for (const std::string& field : fields) all.fields.push_back({.name = field, .part = {}});
  std::string wanted = as_field_name(name);
  if (finds(all, wanted)) return wanted;
  if (std::find(usual.begin(), usual.end(), wanted) != usual.end()) return {};
  const bool may_be_taken = std::find(taken.begin(), taken.end(), wanted) != taken.end();
  fail(ErrorKind::kUsage, "there is no field '{}' in the data set, which has {}{}", name,
       fields.empty() ? "none" : fmt::format("'{}'", fmt::join(fields, "', '")),
       may_be_taken ? fmt::format("; if '{}' is the {} without a choice, no field is called so: leave the choice out",
                                  name, *usual.begin())
                    : "");
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
  return {.image = resolve(choice.image, fields, {"image"}, kUsualImages, finds_image),
          .label = resolve(choice.label, fields, {"label", "cls"}, kUsualLabels, finds_label)};
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
