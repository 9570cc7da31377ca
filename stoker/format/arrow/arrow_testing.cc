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
      {"null", 1},        {"bytes", 4},        {"text", 5},        {"bool", 6},      {"decimal", 7},
      {"date", 8},        {"time", 9},         {"timestamp", 10},  {"interval", 11}, {"list", 12},
      {"struct", 13},     {"fixed_bytes", 15}, {"fixed_list", 16}, {"map", 17},      {"duration", 18},
      {"large_text", 20}, {"text_view", 24}};
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
  if (column.type == "date") type.numbers[0] = arrow_number(std::int16_t{0});  // in days
  if (column.type == "interval") type.numbers[0] = arrow_number(std::int16_t{1});
  if (column.fixed > 0) type.numbers[0] = arrow_number(static_cast<std::int32_t>(column.fixed));
  if (column.dictionary) {
    field.tables[4].numbers[0] = arrow_number(*column.dictionary);
    field.tables[4].tables[1].numbers = {{0, arrow_number(std::int32_t{8})}, {1, arrow_number(std::uint8_t{1})}};
  }
  for (const ArrowTestColumn& child : column.children) field.lists[5].push_back(field_of(child));
  return field;
}

/// A batch's columns, nodes and buffers.
struct BatchBody {
  std::string nodes{}, buffers{}, body{};
  std::uint32_t node_count = 0, buffer_count = 0;
  std::string view_buffers{};
  ArrowTestCodec codec = ArrowTestCodec::kNone;

  void add_buffer(const std::string& content) {
    std::string stored = content;
    if (codec != ArrowTestCodec::kNone && !content.empty()) {
      stored = arrow_number(static_cast<std::int64_t>(content.size()));
      stored += as_text(codec == ArrowTestCodec::kZstd ? compressed_by_zstd(as_bytes(content))
                                                       : compressed_as_lz4_frame(as_bytes(content)));
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

  /// Short values in the rows themselves, every other longer one in the first of two buffers.
  void add_views(const std::vector<std::string>& values) {
    std::string views, buffers_of[2];
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string& value = values[i];
      views += arrow_number(static_cast<std::uint32_t>(value.size()));
      if (value.size() <= 12) {
        views += value + std::string(12 - value.size(), '\0');
        continue;
      }
      const auto number = static_cast<std::uint32_t>(i % 2);
      views += value.substr(0, 4) + arrow_number(number) +
               arrow_number(static_cast<std::uint32_t>(buffers_of[number].size()));
      buffers_of[number] += value;
    }
    add_buffer(views);
    for (const std::string& buffer : buffers_of) add_buffer(buffer);
    view_buffers += arrow_number(std::int64_t{2});
  }

  void add_node(std::size_t rows, const std::vector<bool>& valid) {
    const auto nulls = std::count(valid.begin(), valid.end(), false);
    nodes += arrow_number(static_cast<std::int64_t>(rows)) + arrow_number(static_cast<std::int64_t>(nulls));
    ++node_count;
  }

  void add(const ArrowTestColumn& column) {
    if (!column.dictionary) return add_values(column, column.valid);
    add_node(column.numbers.size(), column.valid);
    add_bits(column.valid);
    add_buffer(std::string(column.numbers.begin(), column.numbers.end()));
  }

  void add_values(const ArrowTestColumn& column, const std::vector<bool>& valid) {
    const std::size_t rows = std::max({column.values.size(), column.counts.size(), std::size_t{column.rows}});
    add_node(rows, valid);
    if (column.type == "null") return;
    add_bits(valid);
    std::string joined;
    for (const std::string& value : column.values) joined += value;
    const auto value_bytes = [&](std::size_t i) { return column.values[i].size(); };
    if (column.type == "list" || column.type == "map") {
      add_offsets<std::int32_t>([&](std::size_t i) { return column.counts[i]; }, rows);
    } else if (column.type == "large_text") {
      add_offsets<std::int64_t>(value_bytes, rows);
      add_buffer(joined);
    } else if (column.type == "bytes" || column.type == "text") {
      add_offsets<std::int32_t>(value_bytes, rows);
      add_buffer(joined);
    } else if (column.type == "text_view") {
      add_views(column.values);
    } else if (column.type == "bool") {
      std::vector<bool> bits;
      for (const std::string& value : column.values) bits.push_back(value == "\1");
      add_bits(bits);
    } else if (column.type != "struct" && column.type != "fixed_list") {
      add_buffer(joined);
    }
    for (const ArrowTestColumn& child : column.children) add(child);
  }

  void add_whole_buffers(std::uint32_t count) {
    const std::string whole = arrow_number(std::int64_t{0}) + arrow_number(static_cast<std::int64_t>(body.size()));
    for (std::uint32_t i = 0; i < count; ++i) buffers += whole;
    buffer_count += count;
  }

  FlatTestTable header() const {
    FlatTestTable header;
    header.numbers[0] = nodes.substr(0, 8);  // rows of the first column
    header.vectors[1] = {node_count, nodes};
    header.vectors[2] = {buffer_count, buffers};
    if (codec != ArrowTestCodec::kNone) {
      header.tables[3].numbers[0] = arrow_number(static_cast<std::int8_t>(codec == ArrowTestCodec::kZstd));
    }
    if (!view_buffers.empty()) header.vectors[4] = {static_cast<std::uint32_t>(view_buffers.size() / 8), view_buffers};
    return header;
  }
};

}  // namespace

std::vector<std::string> arrow_i64s(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> values;
  for (const std::int64_t number : numbers) values.push_back(arrow_number(number));
  return values;
}

std::string arrow_stream(const std::vector<ArrowTestBatch>& batches, const ArrowTestOptions& options) {
  FlatTestTable schema;
  for (const ArrowTestColumn& column : batches.front()) schema.lists[1].push_back(field_of(column));
  if (!options.huggingface.empty()) {
    FlatTestTable note;
    note.set_text(0, "huggingface");
    note.set_text(1, options.huggingface);
    schema.lists[2].push_back(note);
  }
  std::string stream = message(1, schema, "");
  for (const ArrowTestBatch& batch : batches) {
    BatchBody written{.codec = options.codec};
    for (const ArrowTestColumn& column : batch) {
      written.add(column);
      if (!column.dictionary) continue;
      BatchBody values{.codec = options.codec};
      values.add_values(column, {});
      FlatTestTable header;
      header.numbers[0] = arrow_number(*column.dictionary);
      header.tables[1] = values.header();
      stream += message(2, header, values.body);
    }
    written.add_whole_buffers(options.whole_buffers);
    stream += message(3, written.header(), written.body);
  }
  return options.has_end_mark ? stream + "\xff\xff\xff\xff" + arrow_number(std::uint32_t{0}) : stream;
}

std::string arrow_file(const std::vector<ArrowTestBatch>& batches, const ArrowTestOptions& options) {
  const std::string list = "a list of batches";
  return std::string("ARROW1\0\0", 8) + arrow_stream(batches, options) + list +
         arrow_number(static_cast<std::uint32_t>(list.size())) + "ARROW1";
}

}  // namespace stoker
