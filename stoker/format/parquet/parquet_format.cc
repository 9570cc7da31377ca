#include "stoker/format/parquet/parquet_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/class_number.h"
#include "stoker/format/image_bytes.h"
#include "stoker/format/key_prefix.h"
#include "stoker/format/member_name.h"
#include "stoker/format/parquet/huggingface_features.h"
#include "stoker/format/tfrecord/tfrecord_format.h"

namespace stoker {
namespace {

/// What the name of a field of such values ends in; empty for byte strings.
std::string_view suffix_of(ParquetType type) {
  switch (type) {
    case ParquetType::kBoolean: return ".bool";
    case ParquetType::kInt32: return ".i32";
    case ParquetType::kInt64: return ".i64";
    case ParquetType::kFloat: return ".f32";
    case ParquetType::kDouble: return ".f64";
    case ParquetType::kInt96:
    case ParquetType::kByteArray:
    case ParquetType::kFixedBytes: break;
  }
  return {};
}

bool can_be_label(const ParquetColumn& column) {
  return (column.is_integer() || column.type == ParquetType::kBoolean) && column.repetition_max == 0;
}

/// How much of each column is read at a time: so that many columns together take no more than a few.
std::size_t read_bytes_for(std::size_t columns) {
  constexpr std::size_t kTogether = std::size_t{32} << 20, kLeast = std::size_t{16} << 10;
  return std::clamp(kTogether / std::max<std::size_t>(columns, 1), kLeast, SequentialReader::kBlockBytes);
}

}  // namespace

bool ParquetFormat::recognises(const ShardCandidate& shard) const {
  if (shard.is_folder()) return false;
  const std::string_view head = as_text(shard.head());
  return head.starts_with(kParquetMagic) || head.starts_with(kEncryptedParquetMagic) ||
         shard.name().ends_with(".parquet");
}

std::unique_ptr<ShardScan> ParquetFormat::scan(Source& shard, const std::stop_token& stop) const {
  stop_if_asked(stop, shard.name());
  return std::make_unique<ParquetSamples>(shard, stop);
}

ParquetSamples::ParquetSamples(Source& source, std::stop_token stop, std::uint64_t pages_bytes_max)
    : source_(source),
      stop_(std::move(stop)),
      key_prefix_(key_prefix_of_file(source.name(), {".parquet"})),
      footer_(read_parquet_footer(source)),
      places_(source),
      scan_{.file = source, .memory = PageMemory(pages_bytes_max), .places = places_} {
  choose_columns();
  scan_.read_bytes = read_bytes_for(columns_.size());
}

void ParquetSamples::choose_columns() {
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
    Column& column = columns_.emplace_back();
    column.stored = &stored;
    assign_lower_case(column.name, stored.name);
    if (column.name.empty()) column.name = fmt::format("column{}", &stored - footer_.columns.data());
    column.suffix = suffix_of(stored.type);
  }
  choose_label();
  // A truth value is a bit, which no field can be.
  std::erase_if(columns_, [&](const Column& column) {
    const bool is_dropped = column.stored->type == ParquetType::kBoolean && !column.is_label;
    if (is_dropped && lists + truths == 0) first = column.stored->path;
    truths += is_dropped ? 1 : 0;
    return is_dropped;
  });
  if (lists + truths == 0) return;
  notes_.problems.push_back(fmt::format("'{}': skips {} ({} of truth values, {} of lists in lists); the first is '{}'",
                                        source_.name(), counted(lists + truths, "column"), truths, lists, first));
}

void ParquetSamples::choose_label() {
  static const std::vector<std::string_view> kMoreLabels = {"labels", "fine_label"};
  auto class_names = class_names_of(footer_.huggingface);
  const auto fits = [](const Column& column) { return can_be_label(*column.stored); };
  const Column* label = find(kLabelFeatures, fits);
  if (!label) label = find(kMoreLabels, fits);
  if (!label && class_names.size() == 1) {
    const auto named = std::find_if(columns_.begin(), columns_.end(), [&](const Column& column) {
      return fits(column) && column.stored->path == class_names.begin()->first;
    });
    if (named != columns_.end()) label = &*named;
  }
  if (!label) return;
  columns_[static_cast<std::size_t>(label - columns_.data())].is_label = true;
  const auto names = class_names.find(label->stored->path);
  if (names != class_names.end()) notes_.classes = std::move(names->second);
}

template <typename Fits>
const ParquetSamples::Column* ParquetSamples::find(const std::vector<std::string_view>& names, const Fits& fits) const {
  for (const std::string_view name : names) {
    for (const Column& column : columns_) {
      if (column.name == name && fits(column)) return &column;
    }
  }
  return nullptr;
}

bool ParquetSamples::next(SampleRow& row) {
  row.clear();
  row.source = &places_.source();
  stop_if_asked(stop_, source_.name());
  while (rows_left_ == 0) {
    if (group_ == footer_.groups.size()) return false;
    begin_group();
  }
  for (Column& column : columns_) read_row(column);
  set_key(row);
  set_label(row);
  add_fields(row);
  ++row_;
  if (--rows_left_ == 0) end_group();
  return true;
}

void ParquetSamples::begin_group() {
  const ParquetRowGroup& group = footer_.groups[group_];
  rows_left_ = group.rows;
  if (rows_left_ == 0) {
    ++group_;
    return;
  }
  for (Column& column : columns_) {
    const auto number = static_cast<std::size_t>(column.stored - footer_.columns.data());
    column.reader = std::make_unique<ParquetColumnReader>(scan_, *column.stored, group.chunks[number]);
  }
}

void ParquetSamples::end_group() {
  for (Column& column : columns_) {
    if (!column.reader->ended()) {
      fail(ErrorKind::kData, "'{}' is damaged: column '{}' has values beyond the {} of row group {}", source_.name(),
           column.stored->path, counted(footer_.groups[group_].rows, "row"), group_);
    }
    column.reader.reset();
  }
  ++group_;
}

void ParquetSamples::read_row(Column& column) {
  column.values.clear();
  column.count = 0;
  column.is_broken = false;
  column.bytes = {};
  column.integer.reset();
  if (!column.is_list()) return read_entry(column);
  if (column.reader->ended() || !column.reader->begins_row()) {
    fail(ErrorKind::kData, "'{}' is damaged: column '{}' has no list for row {}", source_.name(), column.stored->path,
         row_);
  }
  do {
    read_entry(column);
  } while (!column.reader->begins_row());
}

void ParquetSamples::read_entry(Column& column) {
  const ParquetEntry entry = column.reader->next();
  if (entry.definition >= column.stored->element_definition) ++column.count;
  if (entry.value) {
    keep_value(column, *entry.value);
  } else if (column.is_number() && column.count > 0) {
    column.is_broken = true;  // a null among numbers
  }
}

void ParquetSamples::keep_value(Column& column, const ParquetValue& value) {
  if (!column.is_list()) {
    column.bytes = value.bytes;
    column.integer = value.integer;
  }
  if (column.is_label) return;
  const bool is_lost = value.place == ParquetValue::Place::kNowhere;
  if (column.is_broken || is_lost || (!column.is_number() && column.values.size() == kListMax)) {
    column.is_broken = true;
    return;
  }
  const std::uint64_t offset = column.reader->offset(value);
  if (!column.is_number()) {
    column.values.push_back({.offset = offset,
                             .length = value.bytes.size(),
                             .number = column.count - 1,
                             .extension = extension_of_bytes(value.bytes)});
  } else if (column.values.empty()) {
    column.values.push_back({.offset = offset, .length = value.bytes.size()});
  } else if (column.values[0].offset + column.values[0].length == offset) {
    column.values[0].length += value.bytes.size();
  } else {
    column.is_broken = true;
  }
}

void ParquetSamples::set_key(SampleRow& row) const {
  const Column* const named =
      find(kKeyFeatures, [](const Column& column) { return column.has_bytes() && !column.bytes.empty(); });
  if (!named) {
    row.key = fmt::format("{}{:08}", key_prefix_, row_);
    return;
  }
  const std::string_view name = as_text(named->bytes);
  const bool is_key = named->name == kKeyFeatures.front();
  const std::optional<MemberName> file = is_key ? std::nullopt : split_member_name(name);
  row.key = file ? file->key : name;
}

void ParquetSamples::set_label(SampleRow& row) const {
  const auto label = std::find_if(columns_.begin(), columns_.end(), [](const Column& any) { return any.is_label; });
  if (label != columns_.end()) {
    row.label = std::max<std::int64_t>(label->integer.value_or(-1), -1);
  } else if (const Column* text = find({"cls"}, [](const Column& column) { return column.has_bytes(); })) {
    row.label = parse_class_number(as_text(text->bytes), text->bytes.size()).value_or(-1);
  }
}

/// The one whose field is named after its first bytes alone.
const ParquetSamples::Column* ParquetSamples::image() const {
  const auto begins_as_image = [](const Column& column) {
    return column.has_bytes() && !column.values[0].extension.empty();
  };
  // Its name says so itself.
  const auto is_named = [](const Column& column) {
    return column.has_bytes() && is_image_field_name(column.name) &&
           column.name.find_first_of("./") == std::string::npos;
  };
  if (std::any_of(columns_.begin(), columns_.end(), is_named)) return nullptr;
  if (const Column* usual = find(kImageFeatures, begins_as_image)) return usual;
  const auto first = std::find_if(columns_.begin(), columns_.end(), begins_as_image);
  if (first == columns_.end() || std::any_of(first + 1, columns_.end(), begins_as_image)) return nullptr;
  return &*first;
}

void ParquetSamples::add_fields(SampleRow& row) {
  const Column* const image_column = image();
  for (const Column& column : columns_) {
    if (column.is_label || column.name == kKeyFeatures.front()) continue;  // the row has them
    if (column.is_broken) {
      if (passed_over_++ == 0) first_passed_over_ = fmt::format("of column '{}' in row {}", column.stored->path, row_);
      continue;
    }
    for (const Column::Value& value : column.values) add_field(row, column, value, &column == image_column);
  }
  // As in formats whose samples have no columns.
  std::sort(row.fields.begin(), row.fields.end(),
            [](const SampleField& a, const SampleField& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(row.fields.begin(), row.fields.end(),
                                        [](const SampleField& a, const SampleField& b) { return a.name == b.name; });
  if (twice != row.fields.end()) {
    fail(ErrorKind::kData, "'{}': row {} has two values for the field '{}'", source_.name(), row_, twice->name);
  }
}

void ParquetSamples::add_field(SampleRow& row, const Column& column, const Column::Value& value, bool is_image) {
  if (is_image) {
    name_ = value.extension;
  } else {
    name_ = column.name;
    if (column.is_number()) {
      name_ += column.suffix;
    } else if (column.is_list()) {
      fmt::format_to(std::back_inserter(name_), ".{}", value.number);
    }
    const bool says_so = is_image_field_name(name_) || name_.ends_with("npy");
    if (!value.extension.empty() && !says_so) name_.append(".").append(value.extension);
    std::replace(name_.begin(), name_.end(), '/', '.');
  }
  auto name = names_.find(name_);
  if (name == names_.end()) name = names_.insert(name_).first;
  row.fields.push_back({.name = *name, .part = {}, .offset = value.offset, .length = value.length});
}

ShardNotes ParquetSamples::take_notes() {
  if (passed_over_ > 0) {
    notes_.problems.push_back(
        fmt::format("'{}': skips {} (lists of more than {} byte strings, or numbers that do not lie together); the "
                    "first is {}",
                    source_.name(), counted(passed_over_, "value"), kListMax, first_passed_over_));
  }
  notes_.blocks = places_.take();
  return std::move(notes_);
}

}  // namespace stoker
