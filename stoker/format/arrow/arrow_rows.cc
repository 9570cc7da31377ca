#include "stoker/format/arrow/arrow_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/image_bytes.h"

namespace stoker {
namespace {

constexpr std::uint64_t kArrowRowsMax = std::uint64_t{1} << 40;

/// How `datasets` has a file: the name of its bytes is the struct's.
bool is_file(const ArrowField& field) {
  const auto has = [&](std::string_view name, ArrowKind kind) {
    return std::any_of(field.children.begin(), field.children.end(),
                       [&](const ArrowField& child) { return child.name == name && child.kind == kind; });
  };
  return field.kind == ArrowKind::kStruct && has("bytes", ArrowKind::kBytes) &&
         (has("path", ArrowKind::kText) || has("path", ArrowKind::kNull));
}

/// Of an integer of so many bytes; -1 for one that is no label.
std::int64_t label_of(std::uint64_t bits, const ArrowField& field) {
  const unsigned unused = 64 - 8 * field.width;
  if (field.ending.front() == 'i') return static_cast<std::int64_t>(bits << unused) >> unused;
  return bits > INT64_MAX ? -1 : static_cast<std::int64_t>(bits);
}

}  // namespace

void ArrowRows::fail_column(const ArrowField& field, std::string_view what) const {
  fail(ErrorKind::kData, "'{}' is damaged: column '{}' of its table of Arrow {}", places_.name(), field.name, what);
}

ArrowBuffer ArrowRows::take_buffer(std::size_t& buffer, const ArrowField& field, std::uint64_t bytes_min) {
  const std::vector<ArrowRange>& buffers = batches_.batch().buffers;
  if (buffer == buffers.size()) fail_column(field, "has no buffer");
  const ArrowRange& range = buffers[buffer++];
  if (range.bytes < bytes_min) {
    fail_column(field, fmt::format("has {} where its rows need {}", byte_count(range.bytes), bytes_min));
  }
  return {places_.source(), range};
}

ArrowRows::Column ArrowRows::take_column(const ArrowField& field, std::size_t& node, std::size_t& buffer) {
  const std::vector<ArrowBatch::Node>& nodes = batches_.batch().nodes;
  if (node == nodes.size()) fail_column(field, "has no number of rows");
  Column column{.field = &field, .rows = nodes[node].rows};
  if (column.rows > kArrowRowsMax) fail_column(field, fmt::format("is said to have {} rows", column.rows));
  column.has_nulls = nodes[node++].nulls > 0;
  if (field.kind == ArrowKind::kNull) return column;
  const std::uint64_t bits_bytes = (column.rows + 7) / 8;
  column.validity = take_buffer(buffer, field, column.has_nulls ? bits_bytes : 0);
  switch (field.kind) {
    case ArrowKind::kInteger:
    case ArrowKind::kFloat: column.data = take_buffer(buffer, field, column.rows * field.width); break;
    case ArrowKind::kTruth: column.data = take_buffer(buffer, field, bits_bytes); break;
    case ArrowKind::kBytes:
    case ArrowKind::kText:
    case ArrowKind::kList:
      column.offsets = take_buffer(buffer, field, column.rows > 0 ? (column.rows + 1) * field.width : 0);
      if (field.kind != ArrowKind::kList) column.data = take_buffer(buffer, field, 0);
      break;
    case ArrowKind::kStruct:
    case ArrowKind::kNull: break;
  }
  for (const ArrowField& child : field.children) {
    column.children.push_back(take_column(child, node, buffer));
    if (field.kind == ArrowKind::kStruct && column.children.back().rows < column.rows) {
      fail_column(child,
                  fmt::format("has {} rows, and what it is a part of {}", column.children.back().rows, column.rows));
    }
  }
  return column;
}

void ArrowRows::take_columns() {
  columns_.clear();
  rows_ = batches_.batch().rows;
  std::size_t node = 0, buffer = 0;
  for (const ArrowField& field : batches_.fields()) {
    columns_.push_back(take_column(field, node, buffer));
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
    take_columns();
  }
  values_.clear();
  texts_.clear();
  for (Column& column : columns_) add(column, column.field->name, row_);
  return true;
}

std::string_view ArrowRows::kept(std::string name) {
  const auto found = names_.find(name);
  return found != names_.end() ? *found : *names_.insert(std::move(name)).first;
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
  switch (column.field->kind) {
    case ArrowKind::kNull: return;
    case ArrowKind::kInteger:
    case ArrowKind::kFloat: return add_number(column, name, row);
    case ArrowKind::kTruth: return add_truth(column, name, row);
    case ArrowKind::kBytes:
    case ArrowKind::kText: return add_bytes(column, name, row);
    case ArrowKind::kList: return add_list(column, name, row);
    case ArrowKind::kStruct: break;
  }
  const bool holds_file = is_file(*column.field);
  for (Column& child : column.children) {
    const bool is_the_file = holds_file && child.field->name == "bytes";
    add(child, is_the_file ? name : kept(fmt::format("{}.{}", name, child.field->name)), row);
  }
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
  const std::uint32_t width = column.field->width;
  const Span span{.begin = column.offsets.number(row, width), .end = column.offsets.number(row + 1, width)};
  return span.begin <= span.end && span.end <= end_max ? span : Span{.begin = 1, .end = 0};
}

void ArrowRows::add_bytes(Column& column, std::string_view name, std::uint64_t row) {
  const Span span = span_of(column, row, column.data.bytes());
  if (span.begin > span.end) fail_column(*column.field, fmt::format("has row {} outside of its bytes", row));
  const std::uint64_t length = span.end - span.begin;
  RowValue& value = push(name, column.data.place() + span.begin, length, "");
  if (column.field->kind == ArrowKind::kText) {
    if (length > kTextBytesMax) return;
    value.text = texts_.emplace_back(as_text(column.data.read(span.begin, static_cast<std::size_t>(length))));
    return;
  }
  const auto head = static_cast<std::size_t>(std::min<std::uint64_t>(length, kImageBeginningBytes));
  const std::string_view extension = extension_of_bytes(column.data.read(span.begin, head));
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
  const bool is_too_long = !field.is_number() && count > kListValuesMax;
  if (is_too_long || field.kind == ArrowKind::kTruth || (field.is_number() && values.has_nulls)) {
    passed_over_.emplace(name);
    return;
  }
  if (field.is_number()) {
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
}

}  // namespace stoker
