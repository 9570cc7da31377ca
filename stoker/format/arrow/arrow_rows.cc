#include "stoker/format/arrow/arrow_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/image_bytes.h"

namespace stoker {
namespace {

constexpr std::uint64_t kArrowRowsMax = std::uint64_t{1} << 40;
constexpr std::uint64_t kViewBytes = 16, kViewInlineMax = 12;

/// Whether a list of such values is one range of bytes.
bool lies_together(const ArrowField& field) { return field.is_number() && !field.dictionary; }

/// As many as no buffer can have, where that is more than the number can say.
std::uint64_t bytes_of_rows(std::uint64_t rows, std::uint64_t of_each) {
  return of_each > 0 && rows > UINT64_MAX / of_each ? UINT64_MAX : rows * of_each;
}

/// The field whose dictionary has that number; null without one.
const ArrowField* field_of_dictionary(const std::vector<ArrowField>& fields, std::int64_t number) {
  for (const ArrowField& field : fields) {
    if (field.dictionary == number) return &field;
    if (const ArrowField* child = field_of_dictionary(field.children, number)) return child;
  }
  return nullptr;
}

/// Of an integer of so many bytes; -1 for one that is no label.
std::int64_t label_of(std::uint64_t bits, const ArrowField& field) {
  const unsigned unused = 64 - 8 * field.width;
  if (field.ending.front() == 'i') return static_cast<std::int64_t>(bits << unused) >> unused;
  return bits > INT64_MAX ? -1 : static_cast<std::int64_t>(bits);
}

}  // namespace

bool is_file(const ArrowField& field) {
  const auto has = [&](std::string_view name, ArrowKind kind) {
    return std::any_of(field.children.begin(), field.children.end(),
                       [&](const ArrowField& child) { return child.name == name && child.kind == kind; });
  };
  return field.kind == ArrowKind::kStruct && has("bytes", ArrowKind::kBytes) &&
         (has("path", ArrowKind::kText) || has("path", ArrowKind::kNull));
}

void ArrowRows::fail_column(const ArrowField& field, std::string_view what) const {
  fail(ErrorKind::kData, "'{}' is damaged: column '{}' of its table of Arrow {}", places_.name(), field.name, what);
}

ArrowBuffer ArrowRows::take_buffer(Taken& taken, const ArrowField& field, std::uint64_t bytes_min) {
  const std::vector<ArrowRange>& buffers = batches_.batch().buffers;
  if (taken.buffers == buffers.size()) fail_column(field, "has no buffer");
  const ArrowRange& range = buffers[taken.buffers++];
  if (range.bytes < bytes_min) {
    fail_column(field, fmt::format("has {} where its rows need {}", byte_count(range.bytes), bytes_min));
  }
  return {places_.source(), range};
}

/// With what says which rows are null.
ArrowRows::Column ArrowRows::begin_column(const ArrowField& field, Taken& taken) {
  const std::vector<ArrowBatch::Node>& nodes = batches_.batch().nodes;
  if (taken.nodes == nodes.size()) fail_column(field, "has no number of rows");
  const ArrowBatch::Node& node = nodes[taken.nodes++];
  Column column{.field = &field, .rows = node.rows, .has_nulls = node.nulls > 0};
  if (column.rows > kArrowRowsMax) fail_column(field, fmt::format("is said to have {} rows", column.rows));
  if (field.kind != ArrowKind::kNull) {
    column.validity = take_buffer(taken, field, column.has_nulls ? (column.rows + 7) / 8 : 0);
  }
  return column;
}

ArrowRows::Column ArrowRows::take_column(const ArrowField& field, Taken& taken) {
  if (!field.dictionary) return take_values(field, taken);
  Column column = begin_column(field, taken);
  column.data = take_buffer(taken, field, column.rows * field.index_width);
  return column;
}

void ArrowRows::take_views(Column& column, Taken& taken) {
  column.offsets = take_buffer(taken, *column.field, column.rows * kViewBytes);
  const std::vector<std::uint64_t>& counts = batches_.batch().view_buffers;
  if (taken.view_buffers == counts.size()) fail_column(*column.field, "does not say where its bytes are");
  for (std::uint64_t left = counts[taken.view_buffers++]; left > 0; --left) {
    column.viewed.push_back(take_buffer(taken, *column.field, 0));
  }
}

/// Those of a dictionary, or of a column without one.
ArrowRows::Column ArrowRows::take_values(const ArrowField& field, Taken& taken) {
  Column column = begin_column(field, taken);
  switch (field.kind) {
    case ArrowKind::kInteger:
    case ArrowKind::kFloat:
    case ArrowKind::kOther: column.data = take_buffer(taken, field, column.rows * field.width); break;
    case ArrowKind::kTruth: column.data = take_buffer(taken, field, (column.rows + 7) / 8); break;
    case ArrowKind::kBytes:
    case ArrowKind::kText:
      if (field.is_view) {
        take_views(column, taken);
        break;
      }
      if (field.width > 0) {
        column.offsets = take_buffer(taken, field, column.rows > 0 ? (column.rows + 1) * field.width : 0);
      }
      column.data = take_buffer(taken, field, field.width > 0 ? 0 : bytes_of_rows(column.rows, field.fixed));
      break;
    case ArrowKind::kList:
      if (field.width > 0) {
        column.offsets = take_buffer(taken, field, column.rows > 0 ? (column.rows + 1) * field.width : 0);
      }
      break;
    case ArrowKind::kStruct:
    case ArrowKind::kNull: break;
  }
  for (const ArrowField& child : field.children) {
    column.children.push_back(take_column(child, taken));
    const std::uint64_t rows = field.kind == ArrowKind::kStruct ? column.rows : bytes_of_rows(column.rows, field.fixed);
    if (column.children.back().rows < rows) {
      fail_column(child,
                  fmt::format("has {} rows, and what it is a part of {}", column.children.back().rows, column.rows));
    }
  }
  return column;
}

void ArrowRows::take_dictionary() {
  const std::int64_t number = *batches_.batch().dictionary;
  const ArrowField* const field = field_of_dictionary(batches_.fields(), number);
  if (!field) {
    fail(ErrorKind::kData, "'{}' is damaged: its table of Arrow has a dictionary {} of no column", places_.name(),
         number);
  }
  if (batches_.batch().goes_on) fail_column(*field, "has a dictionary in several parts, which Stoker does not read");
  Taken taken;
  dictionaries_.insert_or_assign(number, take_values(*field, taken));
}

/// A few bytes must not stand for any number of rows. As they are, rows take a bit of a column at least. Compressed,
/// even different ones may take less; and equal ones nothing, of which kEqualRowsMax are enough.
void ArrowRows::check_rows() {
  constexpr std::uint64_t kRowsOfByte = 8, kRowsOfCompressedByte = 64;
  const ArrowBatch& batch = batches_.batch();
  const std::uint64_t most = batch.body_bytes * (batch.is_compressed ? kRowsOfCompressedByte : kRowsOfByte);
  const std::uint64_t more = rows_ > most ? rows_ - most : 0;
  const bool are_too_many = batch.is_compressed ? more > kEqualRowsMax - equal_rows_ : more >= kRowsOfByte;
  if (are_too_many) {
    fail(ErrorKind::kData, "'{}' is damaged: a batch of its table of Arrow is said to have {} rows in {}",
         places_.name(), rows_, byte_count(batch.body_bytes));
  }
  if (batch.is_compressed) equal_rows_ += more;
}

void ArrowRows::take_columns() {
  columns_.clear();
  rows_ = batches_.batch().rows;
  check_rows();
  Taken taken;
  for (const ArrowField& field : batches_.fields()) {
    columns_.push_back(take_column(field, taken));
    if (columns_.back().rows != rows_) {
      fail_column(field, fmt::format("has {} rows in a batch of {}", columns_.back().rows, rows_));
    }
  }
  if (rows_ > 0 && columns_.empty())
    fail(ErrorKind::kData, "'{}' has a table of Arrow without columns", places_.name());
}

bool ArrowRows::next() {
  if (is_begun_) ++row_;
  is_begun_ = true;
  while (row_ == rows_) {
    first_ += rows_;
    row_ = rows_ = 0;
    if (!batches_.next()) {
      is_begun_ = false;
      return false;
    }
    batches_.batch().dictionary ? take_dictionary() : take_columns();
  }
  values_.clear();
  texts_.clear();
  for (Column& column : columns_) add(column, column.field->name, row_);
  return true;
}

std::string_view ArrowRows::kept(std::string_view name) {
  try {
    return names_.keep(name);
  } catch (const Error& wrong) {
    fail(ErrorKind::kData, "'{}': row {} of its table of Arrow cannot be used: {}", places_.name(), number(),
         wrong.message());
  }
}

RowValue& ArrowRows::push(std::string_view name, std::uint64_t offset, std::uint64_t length, std::string_view ending) {
  if (values_.size() == kRowValuesMax) {
    fail(ErrorKind::kData, "'{}': row {} of its table of Arrow has more than {} values; Stoker reads so many",
         places_.name(), number(), kRowValuesMax);
  }
  values_.push_back({.name = name, .offset = offset, .length = length, .ending = ending});
  return values_.back();
}

void ArrowRows::add(Column& column, std::string_view name, std::uint64_t row) {
  if (column.has_nulls && column.field->kind != ArrowKind::kNull && !column.validity.bit(row)) return;
  column.field->dictionary ? add_from_dictionary(column, name, row) : add_value(column, name, row);
}

void ArrowRows::add_from_dictionary(Column& column, std::string_view name, std::uint64_t row) {
  const std::uint64_t number = column.data.number(row, column.field->index_width);
  const auto dictionary = dictionaries_.find(*column.field->dictionary);
  if (dictionary == dictionaries_.end() || number >= dictionary->second.rows) {
    fail_column(*column.field, fmt::format("has row {} outside of its dictionary", row));
  }
  Column& values = dictionary->second;
  if (values.has_nulls && !values.validity.bit(number)) return;
  add_value(values, name, number);
}

/// What is not null, of a column whose rows are values.
void ArrowRows::add_value(Column& column, std::string_view name, std::uint64_t row) {
  switch (column.field->kind) {
    case ArrowKind::kNull: return;
    case ArrowKind::kOther: passed_over_.emplace(name); return;
    case ArrowKind::kInteger:
    case ArrowKind::kFloat: return add_number(column, name, row);
    case ArrowKind::kTruth: return add_truth(column, name, row);
    case ArrowKind::kBytes:
    case ArrowKind::kText: return add_bytes(column, name, row);
    case ArrowKind::kList: return add_list(column, name, row);
    case ArrowKind::kStruct: return add_struct(column, name, row);
  }
}

void ArrowRows::add_struct(Column& column, std::string_view name, std::uint64_t row) {
  const bool holds_file = is_file(*column.field);
  bool has_bytes = false, has_path = false;
  for (Column& child : column.children) {
    const bool is_the_file = holds_file && child.field->name == "bytes";
    const std::size_t before = values_.size();
    add(child, is_the_file ? name : kept(fmt::format("{}.{}", name, child.field->name)), row);
    (is_the_file ? has_bytes : has_path) |= values_.size() > before;
  }
  if (holds_file && has_path && !has_bytes) ++files_elsewhere_;
}

void ArrowRows::add_number(Column& column, std::string_view name, std::uint64_t row) {
  const ArrowField& field = *column.field;
  RowValue& value = push(name, column.data.place() + row * field.width, field.width, field.ending);
  if (field.kind == ArrowKind::kInteger) value.integer = label_of(column.data.number(row, field.width), field);
}

/// Of all rows the same two bytes.
void ArrowRows::add_truth(Column& column, std::string_view name, std::uint64_t row) {
  const bool truth = column.data.bit(row);
  std::optional<std::uint64_t>& place = truths_[truth ? 1 : 0];
  const std::array<std::uint8_t, 1> byte = {truth ? std::uint8_t{1} : std::uint8_t{0}};
  if (!place) place = places_.add_copy(byte);
  push(name, *place, byte.size(), "u8").integer = byte[0];
}

ArrowRows::Span ArrowRows::span_of(Column& column, std::uint64_t row, std::uint64_t end_max) {
  const std::uint32_t width = column.field->width, fixed = column.field->fixed;
  if (width == 0) return {.begin = row * fixed, .end = (row + 1) * fixed};
  const Span span{.begin = column.offsets.number(row, width), .end = column.offsets.number(row + 1, width)};
  return span.begin <= span.end && span.end <= end_max ? span : Span{.begin = 1, .end = 0};
}

/// Nothing where they reach over the end.
std::optional<ArrowRows::Found> ArrowRows::find_bytes(Column& column, std::uint64_t row) {
  if (!column.field->is_view) {
    const Span span = span_of(column, row, column.data.bytes());
    if (span.begin > span.end) return std::nullopt;
    return Found{.in = &column.data, .begin = span.begin, .length = span.end - span.begin};
  }
  // i32 length; the bytes, or where there are more of them the first four, i32 number of a buffer and i32 place in it.
  const std::uint64_t at = row * kViewBytes;
  const Bytes view = column.offsets.read(at, kViewBytes);
  const auto length = load_little_endian<std::uint32_t>(view.data());
  if (length <= kViewInlineMax) return Found{.in = &column.offsets, .begin = at + 4, .length = length};
  const auto number = load_little_endian<std::uint32_t>(view.data() + 8);
  const auto begin = load_little_endian<std::uint32_t>(view.data() + 12);
  if (number >= column.viewed.size()) return std::nullopt;
  ArrowBuffer& in = column.viewed[number];
  if (begin > in.bytes() || length > in.bytes() - begin) return std::nullopt;
  return Found{.in = &in, .begin = begin, .length = length};
}

void ArrowRows::add_bytes(Column& column, std::string_view name, std::uint64_t row) {
  const std::optional<Found> found = find_bytes(column, row);
  if (!found) fail_column(*column.field, fmt::format("has row {} outside of its bytes", row));
  RowValue& value = push(name, found->in->place() + found->begin, found->length, "");
  if (column.field->kind == ArrowKind::kText) {
    if (found->length > kTextBytesMax) return;
    value.text = texts_.emplace_back(as_text(found->in->read(found->begin, static_cast<std::size_t>(found->length))));
    return;
  }
  const auto head = static_cast<std::size_t>(std::min<std::uint64_t>(found->length, kImageBeginningBytes));
  const std::string_view extension = extension_of_bytes(found->in->read(found->begin, head));
  if (extension.empty() || extension == "npy") return;
  value.ending = extension;
  value.is_image = true;
}

void ArrowRows::add_list(Column& column, std::string_view name, std::uint64_t row) {
  Column& values = column.children.front();
  const ArrowField& field = *values.field;
  const Span span = span_of(column, row, values.rows);
  if (span.begin > span.end) fail_column(*column.field, fmt::format("has row {} outside of its values", row));
  const std::uint64_t count = span.end - span.begin;
  if (count == 0 || field.kind == ArrowKind::kNull) return;
  const bool is_too_long = !lies_together(field) && count > kListValuesMax;
  const bool has_null = lies_together(field) && values.has_nulls && !values.validity.all_bits(span.begin, span.end);
  if (is_too_long || has_null || field.kind == ArrowKind::kTruth) {
    passed_over_.emplace(name);
    return;
  }
  if (lies_together(field)) {
    push(name, values.data.place() + span.begin * field.width, count * field.width, field.ending);
    return;
  }
  const std::size_t before = values_.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    add(values, kept(fmt::format("{}.{}", name, i)), span.begin + i);
    if (values_.size() - before <= kListValuesMax) continue;
    values_.erase(values_.begin() + static_cast<std::ptrdiff_t>(before), values_.end());
    passed_over_.emplace(name);
    return;
  }
  for (std::size_t i = before; i < values_.size(); ++i) values_[i].is_element = true;
}

}  // namespace stoker
