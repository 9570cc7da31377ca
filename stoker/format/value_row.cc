#include "stoker/format/value_row.h"

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/format/class_number.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

using Values = std::span<const RowValue>;

// The usual names of values, in lower case, in the order in which they are looked for.
constexpr std::string_view kKeyValue = "__key__";
constexpr std::string_view kImageValues[] = {"image", "img", "x", "encoded", "image_bytes", "picture"};
constexpr std::string_view kLabelValues[] = {"label", "cls", "class", "y", "target"};
constexpr std::string_view kTextLabelValues[] = {"cls"};
constexpr std::string_view kKeyValues[] = {kKeyValue, "filename", "file_name", "path"};

/// The first value of these names that `fits`.
template <typename Fits>
const RowValue* named_value(Values values, std::span<const std::string_view> names, const Fits& fits) {
  for (const std::string_view name : names) {
    for (const RowValue& value : values) {
      if (is_called(value.name, name) && fits(value)) return &value;
    }
  }
  return nullptr;
}

/// The only value that `fits`.
template <typename Fits>
const RowValue* only_value(Values values, const Fits& fits) {
  const auto first = std::find_if(values.begin(), values.end(), fits);
  return first != values.end() && std::find_if(first + 1, values.end(), fits) == values.end() ? &*first : nullptr;
}

bool has_no_name(const RowValue& value) {
  return std::all_of(value.name.begin(), value.name.end(), [](char one) { return one >= '0' && one <= '9'; });
}

const RowValue* key_value(Values values) {
  return named_value(values, kKeyValues, [](const RowValue& value) { return value.text && !value.text->empty(); });
}

const RowValue* integer_label(Values values, std::optional<std::string_view> name) {
  const auto is_integer = [](const RowValue& value) { return value.integer.has_value(); };
  if (name) {
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const RowValue& one) { return one.name == *name; });
    return found != values.end() && is_integer(*found) ? &*found : nullptr;
  }
  if (const RowValue* named = named_value(values, kLabelValues, is_integer)) return named;
  const bool have_names = !std::all_of(values.begin(), values.end(), has_no_name);
  return have_names ? nullptr : only_value(values, is_integer);
}

bool names_its_kind(std::string_view name, std::string_view ending) {
  return name == ending || (name.ends_with(ending) && name[name.size() - ending.size() - 1] == '.');
}

}  // namespace

ValueRows::ValueRows() : usual_image_(kImageValues) {}

void ValueRows::choose_image(Values values) {
  image_values_.clear();
  for (const RowValue& value : values) {
    const bool is_number = value.integer || (!value.is_image && !value.ending.empty());
    image_values_.push_back({.name = value.name,
                             .extension = value.is_image ? value.ending : std::string_view(),
                             .is_bytes = !is_number && !value.text && value.length > 0,
                             .is_other = value.is_element});
  }
  choice_ = usual_image_.choose(image_values_);
  image_ = choice_.number ? &values[static_cast<std::size_t>(*choice_.number)] : nullptr;
}

void ValueRows::fill(SampleRow& row, Values values, const RowValue& whole, std::optional<std::string_view> label_name) {
  row.label = -1;
  row.fields.clear();
  const RowValue* const key = key_value(values);
  if (key) {
    row.key = is_called(key->name, kKeyValue) ? std::string(*key->text) : key_of_file(*key->text);
  }
  const RowValue* const label = integer_label(values, label_name);
  if (label) {
    row.label = std::max<std::int64_t>(*label->integer, -1);
  } else if (const RowValue* text =
                 named_value(values, kTextLabelValues, [](const RowValue& one) { return !!one.text; })) {
    row.label = parse_class_number(*text->text, text->text->size()).value_or(-1);
  }
  choose_image(values);
  for (const RowValue& value : values) {
    if (&value == label || (&value == key && is_called(value.name, kKeyValue))) continue;  // the row has them
    row.fields.push_back(
        {.name = names_.keep(field_name(value)), .part = {}, .offset = value.offset, .length = value.length});
  }
  if (row.fields.empty()) {
    row.fields.push_back({.name = names_.keep(whole.name), .part = {}, .offset = whole.offset, .length = whole.length});
  }
  std::sort(row.fields.begin(), row.fields.end(),
            [](const SampleField& a, const SampleField& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(row.fields.begin(), row.fields.end(),
                                        [](const SampleField& a, const SampleField& b) { return a.name == b.name; });
  if (twice != row.fields.end()) fail(ErrorKind::kData, "it has two values for the field '{}'", twice->name);
}

std::string ValueRows::field_name(const RowValue& value) const {
  if (&value == image_) return std::string(choice_.extension);
  std::string name;
  assign_lower_case(name, value.name);
  std::replace(name.begin(), name.end(), '/', '.');
  if (name.empty() || name.front() == '.') name.insert(0, "value");  // one without a name, or a part of it
  const bool is_named = value.is_image ? choice_.is_missing || is_image_field_name(name) : value.ending.empty();
  if (!is_named && !names_its_kind(name, value.ending)) name.append(".").append(value.ending);
  return name;
}

}  // namespace stoker
