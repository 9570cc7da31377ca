#include "stoker/format/parquet/parquet_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/class_number.h"
#include "stoker/format/huggingface_features.h"
#include "stoker/format/image_bytes.h"
#include "stoker/format/key_prefix.h"
#include "stoker/format/member_name.h"
#include "stoker/format/tfrecord/tfrecord_format.h"

namespace stoker {
namespace {

/// What the name of a field of such values ends in; empty for byte strings.
std::string_view suffix_of(const ParquetColumn& column) {
  switch (column.type) {
    case ParquetType::kBoolean: return ".bool";
    case ParquetType::kInt32: return column.is_unsigned ? ".u32" : ".i32";
    case ParquetType::kInt64: return column.is_unsigned ? ".u64" : ".i64";
    case ParquetType::kFloat: return ".f32";
    case ParquetType::kDouble: return ".f64";
    case ParquetType::kFixedBytes: return column.is_half ? ".f16" : "";
    case ParquetType::kInt96:
    case ParquetType::kByteArray: break;
  }
  return {};
}

bool can_be_label(const ParquetColumn& column) {
  return (column.is_integer() || column.type == ParquetType::kBoolean) && column.repetition_max == 0;
}

}  // namespace

void ParquetRowColumn::clear() {
  values.clear();
  numbers.clear();
  numbers_bytes = 0;
  count = 0;
  is_broken = false;
  bytes = {};
  integer.reset();
}

void ParquetRowColumn::add(std::uint64_t offset, Bytes value) {
  if (is_number()) {
    values.push_back({.offset = offset, .length = value.size()});
  } else {
    values.push_back(
        {.offset = offset, .length = value.size(), .number = count - 1, .extension = extension_of_bytes(value)});
  }
}

void ParquetRowColumn::add(const ParquetNumbers& found) {
  if (found.has_null) is_broken = true;
  if (found.count == 0) return;
  if (!may_join()) is_broken = true;
  const std::uint64_t length = found.count * stored->width;
  values.assign(1, {.offset = found.offset, .length = length});
  numbers_bytes += length;
}

void ParquetRowColumn::join(BlockPlaces& places) {
  if (values.empty() || is_broken || numbers_bytes == values[0].length) return;
  const auto before = static_cast<std::ptrdiff_t>(numbers_bytes - values[0].length);
  values[0].offset = places.add(HeadedRows{
      .head = {numbers.begin(), numbers.begin() + before}, .offset = values[0].offset, .length = values[0].length});
  values[0].length = numbers_bytes;
}

ParquetRows::ParquetRows(const ParquetFooter& footer, std::string_view file)
    : footer_(footer), file_(file), key_prefix_(key_prefix_of_file(file, {".parquet"})), usual_image_(kImageFeatures) {
  choose_columns();
  for (const ParquetRowColumn& column : columns_) {
    if (!column.is_number() && !column.is_list() && !column.stored->is_text) usual_image_.expect(column.name);
  }
}

void ParquetRows::choose_columns() {
  std::int64_t lists = 0, truths = 0;
  std::string first;
  for (const ParquetColumn& stored : footer_.columns) {
    const bool is_deep = stored.repetition_max > 1;
    const bool is_truth = stored.type == ParquetType::kBoolean && !can_be_label(stored);
    if (is_deep || is_truth) {
      if (lists + truths == 0) first = stored.path;
      ++(is_deep ? lists : truths);
      continue;
    }
    ParquetRowColumn& column = columns_.emplace_back();
    column.stored = &stored;
    assign_lower_case(column.name, stored.name);
    if (column.name.empty()) column.name = fmt::format("column{}", &stored - footer_.columns.data());
    column.suffix = suffix_of(stored);
  }
  choose_label();
  // A truth value is a bit, which no field can be.
  std::erase_if(columns_, [&](const ParquetRowColumn& column) {
    const bool is_dropped = column.stored->type == ParquetType::kBoolean && !column.is_label;
    if (is_dropped && lists + truths == 0) first = column.stored->path;
    truths += is_dropped ? 1 : 0;
    return is_dropped;
  });
  if (lists + truths == 0) return;
  notes_.problems.push_back(fmt::format("'{}': skips {} ({} of truth values, {} of lists in lists); the first is '{}'",
                                        file_, counted(lists + truths, "column"), truths, lists, first));
}

void ParquetRows::choose_label() {
  std::vector<IntegerColumn> integers;
  std::vector<std::size_t> numbers;
  for (const ParquetRowColumn& column : columns_) {
    if (!can_be_label(*column.stored)) continue;
    integers.push_back({.name = column.name, .path = column.stored->path});
    numbers.push_back(static_cast<std::size_t>(&column - columns_.data()));
  }
  std::optional<LabelColumn> label = label_column(integers, footer_.huggingface);
  if (!label) return;
  columns_[numbers[label->number]].is_label = true;
  notes_.classes = std::move(label->classes);
}

template <typename Fits>
const ParquetRowColumn* ParquetRows::find(const std::vector<std::string_view>& names, const Fits& fits) const {
  for (const std::string_view name : names) {
    for (const ParquetRowColumn& column : columns_) {
      if (column.name == name && fits(column)) return &column;
    }
  }
  return nullptr;
}

void ParquetRows::fill(std::uint64_t number, SampleRow& row) {
  row_ = number;
  set_key(row);
  set_label(row);
  try {
    add_fields(row);
  } catch (const Error& wrong) {
    fail(ErrorKind::kData, "'{}': row {} cannot be used: {}", file_, row_, wrong.message());
  }
}

void ParquetRows::set_key(SampleRow& row) const {
  const ParquetRowColumn* const named =
      find(kKeyFeatures, [](const ParquetRowColumn& column) { return column.has_bytes() && !column.bytes.empty(); });
  if (!named) {
    row.key = fmt::format("{}{:08}", key_prefix_, row_);
    return;
  }
  const std::string_view name = as_text(named->bytes);
  const bool is_key = named->name == kKeyFeatures.front();
  row.key = is_key ? std::string(name) : key_of_file(name);
}

void ParquetRows::set_label(SampleRow& row) {
  const auto label =
      std::find_if(columns_.begin(), columns_.end(), [](const ParquetRowColumn& any) { return any.is_label; });
  if (label != columns_.end()) {
    row.label = std::max<std::int64_t>(label->integer.value_or(-1), -1);
    if (label->stored->is_unsigned && label->integer.value_or(0) < 0 && large_labels_++ == 0) first_large_label_ = row_;
  } else if (const ParquetRowColumn* text =
                 find({"cls"}, [](const ParquetRowColumn& column) { return column.has_bytes(); })) {
    row.label = parse_class_number(as_text(text->bytes), text->bytes.size()).value_or(-1);
  }
}

void ParquetRows::choose_image() {
  image_values_.clear();
  for (const ParquetRowColumn& column : columns_) {
    UsualImage::Value& value = image_values_.emplace_back();
    if (!column.has_bytes()) continue;
    value = {.name = column.name,
             .extension = column.values[0].extension,
             .is_bytes = !column.stored->is_text && column.values[0].length > 0};
  }
  image_ = usual_image_.choose(image_values_);
}

void ParquetRows::add_fields(SampleRow& row) {
  choose_image();
  for (const ParquetRowColumn& column : columns_) {
    if (column.is_label || column.name == kKeyFeatures.front()) continue;  // the row has them
    if (column.is_broken) {
      if (passed_over_++ == 0) first_passed_over_ = fmt::format("of column '{}' in row {}", column.stored->path, row_);
      continue;
    }
    for (const ParquetRowColumn::Value& value : column.values) add_field(row, column, value);
  }
  // As in formats whose samples have no columns.
  std::sort(row.fields.begin(), row.fields.end(),
            [](const SampleField& a, const SampleField& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(row.fields.begin(), row.fields.end(),
                                        [](const SampleField& a, const SampleField& b) { return a.name == b.name; });
  if (twice != row.fields.end()) fail(ErrorKind::kData, "it has two values for the field '{}'", twice->name);
}

void ParquetRows::add_field(SampleRow& row, const ParquetRowColumn& column, const ParquetRowColumn::Value& value) {
  if (image_.number == &column - columns_.data()) {
    name_ = image_.extension;
  } else {
    name_ = column.name;
    if (column.is_number()) {
      name_ += column.suffix;
    } else if (column.is_list()) {
      fmt::format_to(std::back_inserter(name_), ".{}", value.number);
    }
    const bool says_so = image_.is_missing || is_image_field_name(name_) || name_.ends_with("npy");
    if (!value.extension.empty() && !says_so) name_.append(".").append(value.extension);
    std::replace(name_.begin(), name_.end(), '/', '.');
  }
  row.fields.push_back({.name = names_.keep(name_), .part = {}, .offset = value.offset, .length = value.length});
}

ParquetRowNotes ParquetRows::take_notes() {
  if (passed_over_ > 0) {
    notes_.problems.push_back(fmt::format(
        "'{}': skips {} (lists of more than {} byte strings, lists of numbers with nulls or over {} in front of "
        "their last page, or strings in DELTA_BYTE_ARRAY); the first is {}",
        file_, counted(passed_over_, "value"), ParquetRowColumn::kListMax,
        byte_count(ParquetRowColumn::kJoinedBytesMax), first_passed_over_));
  }
  if (large_labels_ > 0) {
    notes_.problems.push_back(
        fmt::format("'{}': {} without a label, for its number is 2^63 or more; the first is row {}", file_,
                    counted(large_labels_, "sample"), first_large_label_));
  }
  return std::move(notes_);
}

}  // namespace stoker
