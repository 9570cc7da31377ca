#include "stoker/format/arrow/flat_table.h"

#include "stoker/base/error.h"

namespace stoker {
namespace {

constexpr std::size_t kFlatOffsetBytes = 4, kFlatFieldBytes = 2;

Bytes flat_part(Bytes buffer, std::uint64_t at, std::uint64_t bytes) {
  if (at > buffer.size() || bytes > buffer.size() - at) {
    fail(ErrorKind::kData, "its metadata have {} bytes at byte {}, and end at byte {}", bytes, at, buffer.size());
  }
  return buffer.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(bytes));
}

template <typename Number>
Number flat_number(Bytes buffer, std::uint64_t at) {
  return load_little_endian<Number>(flat_part(buffer, at, sizeof(Number)).data());
}

}  // namespace

FlatTable FlatTable::root_of(Bytes buffer) { return {buffer, flat_number<std::uint32_t>(buffer, 0)}; }

FlatTable::FlatTable(Bytes buffer, std::uint64_t at) : buffer_(buffer), at_(static_cast<std::size_t>(at)) {
  const auto back = flat_number<std::int32_t>(buffer, at);
  const std::int64_t fields = static_cast<std::int64_t>(at) - back;
  if (fields < 0) fail(ErrorKind::kData, "its metadata have a table without fields, at byte {}", at);
  fields_ = static_cast<std::size_t>(fields);
  fields_bytes_ = flat_number<std::uint16_t>(buffer, fields_);
  table_bytes_ = flat_number<std::uint16_t>(buffer, fields_ + kFlatFieldBytes);
  flat_part(buffer, fields_, fields_bytes_);
  flat_part(buffer, at_, table_bytes_);
}

/// 0 where it is absent.
std::size_t FlatTable::place_of(std::size_t field, std::size_t bytes) const {
  const std::size_t entry = (2 + field) * kFlatFieldBytes;
  if (entry + kFlatFieldBytes > fields_bytes_) return 0;
  const auto offset = flat_number<std::uint16_t>(buffer_, fields_ + entry);
  if (offset == 0) return 0;
  if (offset + bytes > table_bytes_) {
    fail(ErrorKind::kData, "its metadata have a field outside of its table, at byte {}", at_ + offset);
  }
  return at_ + offset;
}

std::uint64_t FlatTable::target_of(std::size_t at) const {
  return std::uint64_t{at} + flat_number<std::uint32_t>(buffer_, at);
}

std::optional<FlatTable> FlatTable::table(std::size_t field) const {
  const std::size_t at = place_of(field, kFlatOffsetBytes);
  if (at == 0) return std::nullopt;
  return FlatTable(buffer_, target_of(at));
}

std::string_view FlatTable::text(std::size_t field) const { return as_text(elements(field, 1)); }

Bytes FlatTable::elements(std::size_t field, std::size_t element_bytes) const {
  const std::size_t at = place_of(field, kFlatOffsetBytes);
  if (at == 0) return {};
  const std::uint64_t vector = target_of(at);
  return flat_part(buffer_, vector + kFlatOffsetBytes, element_bytes * flat_number<std::uint32_t>(buffer_, vector));
}

std::vector<FlatTable> FlatTable::tables(std::size_t field, std::size_t count_max) const {
  const Bytes offsets = elements(field, kFlatOffsetBytes);
  const std::size_t count = offsets.size() / kFlatOffsetBytes;
  if (count > count_max) fail(ErrorKind::kData, "its metadata have {} tables in a list of up to {}", count, count_max);
  std::vector<FlatTable> tables;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(offsets.data() - buffer_.data()) + i * kFlatOffsetBytes;
    tables.push_back({buffer_, target_of(at)});
  }
  return tables;
}

}  // namespace stoker
