#include "stoker/format/arrow/arrow_testing.h"

#include <algorithm>
#include <map>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/little_endian.h"
#include "stoker/storage/block_testing.h"

namespace stoker {
namespace {

template <typename Integer>
std::string arrow_number(Integer number) {
  std::vector<std::uint8_t> bytes;
  append_little_endian(bytes, number);
  return std::string(as_text(bytes));
}

/// A table of FlatBuffers by its fields' numbers. Nothing is aligned, which Stoker does not ask for.
struct FlatTestTable {
  struct Vector {
    std::uint32_t count = 0;
    std::string bytes{};
  };

  std::map<std::size_t, std::string> numbers{};
  std::map<std::size_t, Vector> vectors{};  // of numbers, structs or characters
  std::map<std::size_t, FlatTestTable> tables{};
  std::map<std::size_t, std::vector<FlatTestTable>> lists{};

  void set_text(std::size_t field, const std::string& text) {
    vectors[field] = {static_cast<std::uint32_t>(text.size()), text + '\0'};
  }
};

void patch(std::string& bytes, std::size_t at) {
  const std::string offset = arrow_number(static_cast<std::uint32_t>(bytes.size() - at));
  bytes.replace(at, offset.size(), offset);
}

/// The table that the offset at `from` is to lead to.
void append_table(std::string& bytes, std::size_t from, const FlatTestTable& table) {
  constexpr std::size_t kFields = 8, kEntriesBytes = 2 * (2 + kFields);
  const std::size_t entries_at = bytes.size();
  bytes.append(kEntriesBytes, '\0');
  patch(bytes, from);
  const std::size_t at = bytes.size();
  bytes += arrow_number(static_cast<std::int32_t>(at - entries_at));
  std::map<std::size_t, std::size_t> places;
  const auto place = [&](std::size_t field, const std::string& content) {
    places[field] = bytes.size();
    bytes.replace(entries_at + 2 * (2 + field), 2, arrow_number(static_cast<std::uint16_t>(bytes.size() - at)));
    bytes += content;
  };
  const std::string offset(4, '\0');
  for (const auto& [field, number] : table.numbers) place(field, number);
  for (const auto& [field, vector] : table.vectors) place(field, offset);
  for (const auto& [field, child] : table.tables) place(field, offset);
  for (const auto& [field, list] : table.lists) place(field, offset);
  bytes.replace(entries_at, 2, arrow_number(static_cast<std::uint16_t>(kEntriesBytes)));
  bytes.replace(entries_at + 2, 2, arrow_number(static_cast<std::uint16_t>(bytes.size() - at)));
  for (const auto& [field, vector] : table.vectors) {
    patch(bytes, places[field]);
    bytes += arrow_number(vector.count) + vector.bytes;
  }
  for (const auto& [field, child] : table.tables) append_table(bytes, places[field], child);
  for (const auto& [field, list] : table.lists) {
    patch(bytes, places[field]);
    bytes += arrow_number(static_cast<std::uint32_t>(list.size()));
    const std::size_t offsets_at = bytes.size();
    bytes.append(4 * list.size(), '\0');
    for (std::size_t i = 0; i < list.size(); ++i) append_table(bytes, offsets_at + 4 * i, list[i]);
  }
}

std::string message(std::uint8_t type, FlatTestTable header, const std::string& body) {
  FlatTestTable table;
  table.numbers = {{0, arrow_number(std::int16_t{4})},
                   {1, arrow_number(type)},
                   {3, arrow_number(static_cast<std::int64_t>(body.size()))}};
  table.tables[2] = std::move(header);
  std::string bytes(4, '\0');
  append_table(bytes, 0, table);
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return "\xff\xff\xff\xff" + arrow_number(static_cast<std::uint32_t>(bytes.size())) + bytes + body;
}

bool is_arrow_number(const std::string& type) { return type.size() <= 3 && std::string("iuf").find(type[0]) < 3; }

std::uint8_t type_number(const std::string& type) {
  constexpr std::pair<std::string_view, std::uint8_t> kNumbers[] = {
      {"null", 1}, {"bytes", 4}, {"text", 5}, {"bool", 6}, {"list", 12}, {"struct", 13}, {"large_text", 20}};
  for (const auto& [name, number] : kNumbers) {
    if (name == type) return number;
  }
  return is_arrow_number(type) ? (type[0] == 'f' ? 3 : 2) : 99;
}

FlatTestTable field_of(const ArrowTestColumn& column) {
  FlatTestTable field;
  field.set_text(0, column.name);
  field.numbers[2] = arrow_number(type_number(column.type));
  FlatTestTable& type = field.tables[3];
  if (is_arrow_number(column.type)) {
    const int bits = std::stoi(column.type.substr(1));
    if (column.type[0] == 'f') {
      type.numbers[0] = arrow_number(static_cast<std::int16_t>(bits == 16 ? 0 : bits / 32));
    } else {
      type.numbers = {{0, arrow_number(std::int32_t{bits})},
                      {1, arrow_number(static_cast<std::uint8_t>(column.type[0] == 'i'))}};
    }
  }
  for (const ArrowTestColumn& child : column.children) field.lists[5].push_back(field_of(child));
  return field;
}

/// A batch's columns, nodes and buffers.
struct BatchBody {
  std::string nodes{}, buffers{}, body{};
  std::uint32_t node_count = 0, buffer_count = 0;
  bool is_zstd = false;

  void add_buffer(const std::string& content) {
    std::string stored = content;
    if (is_zstd && !content.empty()) {
      stored = arrow_number(static_cast<std::int64_t>(content.size()));
      stored += as_text(compressed_by_zstd(as_bytes(content)));
    }
    buffers +=
        arrow_number(static_cast<std::int64_t>(body.size())) + arrow_number(static_cast<std::int64_t>(stored.size()));
    ++buffer_count;
    body += stored;
    body.resize((body.size() + 7) / 8 * 8);
  }

  template <typename Offset, typename Lengths>
  void add_offsets(const Lengths& length, std::size_t rows) {
    Offset end = 0;
    std::string offsets = arrow_number(end);
    for (std::size_t i = 0; i < rows; ++i) offsets += arrow_number(end += static_cast<Offset>(length(i)));
    add_buffer(offsets);
  }

  void add_bits(const std::vector<bool>& bits) {
    std::string bytes((bits.size() + 7) / 8, '\0');
    for (std::size_t i = 0; i < bits.size(); ++i) {
      if (bits[i]) bytes[i / 8] = static_cast<char>(bytes[i / 8] | 1 << i % 8);
    }
    add_buffer(bytes);
  }

  void add(const ArrowTestColumn& column) {
    const std::size_t rows = std::max({column.values.size(), column.counts.size(), std::size_t{column.rows}});
    const auto nulls = std::count(column.valid.begin(), column.valid.end(), false);
    nodes += arrow_number(static_cast<std::int64_t>(rows)) + arrow_number(static_cast<std::int64_t>(nulls));
    ++node_count;
    if (column.type == "null") return;
    add_bits(column.valid);
    std::string joined;
    for (const std::string& value : column.values) joined += value;
    const auto value_bytes = [&](std::size_t i) { return column.values[i].size(); };
    if (column.type == "list") {
      add_offsets<std::int32_t>([&](std::size_t i) { return column.counts[i]; }, rows);
    } else if (column.type == "large_text") {
      add_offsets<std::int64_t>(value_bytes, rows);
      add_buffer(joined);
    } else if (column.type == "bytes" || column.type == "text") {
      add_offsets<std::int32_t>(value_bytes, rows);
      add_buffer(joined);
    } else if (column.type == "bool") {
      std::vector<bool> bits;
      for (const std::string& value : column.values) bits.push_back(value == "\1");
      add_bits(bits);
    } else if (column.type != "struct") {
      add_buffer(joined);
    }
    for (const ArrowTestColumn& child : column.children) add(child);
  }
};

}  // namespace

std::vector<std::string> arrow_i64s(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> values;
  for (const std::int64_t number : numbers) values.push_back(arrow_number(number));
  return values;
}

std::string arrow_stream(const std::vector<ArrowTestBatch>& batches, bool is_zstd) {
  FlatTestTable schema;
  for (const ArrowTestColumn& column : batches.front()) schema.lists[1].push_back(field_of(column));
  std::string stream = message(1, schema, "");
  for (const ArrowTestBatch& batch : batches) {
    BatchBody written{.is_zstd = is_zstd};
    for (const ArrowTestColumn& column : batch) written.add(column);
    FlatTestTable header;
    header.numbers[0] = written.nodes.substr(0, 8);  // rows of the first column
    header.vectors[1] = {written.node_count, written.nodes};
    header.vectors[2] = {written.buffer_count, written.buffers};
    if (is_zstd) header.tables[3].numbers[0] = arrow_number(std::int8_t{1});
    stream += message(3, header, written.body);
  }
  return stream + "\xff\xff\xff\xff" + arrow_number(std::uint32_t{0});
}

std::string arrow_file(const std::vector<ArrowTestBatch>& batches) {
  return std::string("ARROW1\0\0", 8) + arrow_stream(batches) + "a list of batches";
}

}  // namespace stoker
