#include "stoker/format/parquet/parquet_footer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/field_names.h"
#include "stoker/format/parquet/thrift_reader.h"

namespace stoker {
namespace {

constexpr std::size_t kParquetEndBytes = 8;
// Columns of lists may have far more values than they have bytes, since long runs of equal ones take few. More than
// this for each byte of the file, all columns together, would only cost time.
constexpr std::uint64_t kValuesPerByteMax = 64;
constexpr std::uint32_t kSchemaDepthMax = 32;

enum class Repetition : std::uint8_t { kRequired = 0, kOptional = 1, kRepeated = 2 };

struct SchemaElement {
  std::string_view name;
  std::optional<ParquetType> type;  // none of what holds others
  std::uint32_t width = 0;
  Repetition repetition = Repetition::kRequired;
  std::size_t children = 0;
  bool is_list = false, is_unsigned = false, is_half = false, is_text = false;
};

template <typename Enum>
Enum enum_of(std::int64_t number, Enum last, std::string_view what) {
  if (number < 0 || number > static_cast<std::int64_t>(last)) {
    fail(ErrorKind::kData, "it has {} {}, which this version of Stoker does not know", what, number);
  }
  return static_cast<Enum>(number);
}

std::uint64_t not_negative(std::int64_t number) {
  if (number < 0) fail(ErrorKind::kData, "it has a length or a number of values below 0");
  return static_cast<std::uint64_t>(number);
}

bool is_unsigned_integer(ThriftReader& footer, ThriftType type) {
  constexpr int kIsSigned = 2;
  bool is_signed = true;
  footer.read_struct(type, [&](int number, ThriftType field) {
    if (number == kIsSigned) {
      is_signed = footer.boolean(field);
    } else {
      footer.skip(field);
    }
  });
  return !is_signed;
}

/// What a group or a leaf means, in the older of the format's two ways.
void read_converted_type(std::int64_t number, SchemaElement& element) {
  constexpr std::int64_t kUtf8 = 0, kList = 3, kU8 = 11, kU64 = 14;
  if (number == kUtf8) element.is_text = true;
  if (number == kList) element.is_list = true;
  if (number >= kU8 && number <= kU64) element.is_unsigned = true;
}

/// The same in the newer one.
void read_logical_type(ThriftReader& footer, ThriftType type, SchemaElement& element) {
  constexpr int kString = 1, kList = 3, kInteger = 10, kFloat16 = 15;
  footer.read_struct(type, [&](int number, ThriftType field) {
    if (number == kInteger) {
      if (is_unsigned_integer(footer, field)) element.is_unsigned = true;
      return;
    }
    if (number == kString) element.is_text = true;
    if (number == kList) element.is_list = true;
    if (number == kFloat16) element.is_half = true;
    footer.skip(field);
  });
}

std::uint32_t width_of(ParquetType type, std::int64_t fixed) {
  switch (type) {
    case ParquetType::kInt32:
    case ParquetType::kFloat: return 4;
    case ParquetType::kInt64:
    case ParquetType::kDouble: return 8;
    case ParquetType::kInt96: return 12;
    case ParquetType::kFixedBytes: {
      constexpr std::int64_t kWidthMax = std::int64_t{1} << 30;
      if (fixed < 1 || fixed > kWidthMax) fail(ErrorKind::kData, "it has values of {} bytes", fixed);
      return static_cast<std::uint32_t>(fixed);
    }
    case ParquetType::kBoolean:
    case ParquetType::kByteArray: break;
  }
  return 0;
}

SchemaElement read_element(ThriftReader& footer, ThriftType type) {
  SchemaElement element;
  std::int64_t fixed = 0;
  footer.read_struct(type, [&](int number, ThriftType field) {
    switch (number) {
      case 1: element.type = enum_of(footer.integer(field), ParquetType::kFixedBytes, "values of type"); break;
      case 2: fixed = footer.integer(field); break;
      case 3: element.repetition = enum_of(footer.integer(field), Repetition::kRepeated, "a repetition"); break;
      case 4: element.name = footer.binary(field); break;
      case 5: element.children = static_cast<std::size_t>(not_negative(footer.int32(field))); break;
      case 6: read_converted_type(footer.integer(field), element); break;
      case 10: read_logical_type(footer, field, element); break;
      default: footer.skip(field);
    }
  });
  if (element.children > 0) element.type.reset();
  if (element.type) element.width = width_of(*element.type, fixed);
  return element;
}

/// Turns the schema, a tree whose elements stand in the order of a walk, into its leaves.
class SchemaWalk {
 public:
  explicit SchemaWalk(const std::vector<SchemaElement>& all) : all_(all) {}

  std::vector<ParquetColumn> columns() {
    if (all_.empty()) fail(ErrorKind::kData, "it has no schema");
    const std::size_t children = all_[at_++].children;
    for (std::size_t i = 0; i < children; ++i) visit({}, Naming::kOwn);
    if (at_ != all_.size()) fail(ErrorKind::kData, "its schema has more elements than its groups hold");
    return std::move(columns_);
  }

 private:
  /// Whether an element's name becomes a part of its columns' names; or not, and neither does its child's.
  enum class Naming { kOwn, kNone, kNoneNorChild };

  const SchemaElement& peek(std::size_t ahead = 0) const {
    if (at_ + ahead >= all_.size()) fail(ErrorKind::kData, "its schema has fewer elements than its groups hold");
    return all_[at_ + ahead];
  }

  Naming naming_of_child(const SchemaElement& parent, Naming parents) const {
    if (parents == Naming::kNoneNorChild) return Naming::kNone;
    const SchemaElement& child = peek();
    if (parent.is_list && parent.children == 1 && child.repetition == Repetition::kRepeated) {
      return child.children == 1 ? Naming::kNoneNorChild : Naming::kNone;
    }
    return Naming::kOwn;
  }

  /// Whether the element just taken is a struct of bytes and a path, as `datasets` stores images and sounds.
  bool is_bytes_with_path(const SchemaElement& element) const {
    if (element.children != 2) return false;
    const SchemaElement &a = peek(), &b = peek(1);
    const auto is = [](const SchemaElement& leaf, std::string_view name) {
      return leaf.name == name && leaf.type == ParquetType::kByteArray;
    };
    return (is(a, "bytes") && is(b, "path")) || (is(a, "path") && is(b, "bytes"));
  }

  void visit(ParquetColumn column, Naming naming) {
    const SchemaElement& element = peek();
    ++at_;
    column.path.append(column.path.empty() ? "" : ".").append(element.name);
    check_name(column.path);  // which each column in it repeats
    if (naming == Naming::kOwn) column.name.append(column.name.empty() ? "" : "/").append(element.name);
    if (element.repetition != Repetition::kRequired) ++column.definition_max;
    if (element.repetition == Repetition::kRepeated) {
      ++column.repetition_max;
      column.element_definition = column.definition_max;
    }
    if (++depth_ > kSchemaDepthMax) {
      fail(ErrorKind::kData, "its schema is nested more than {} deep", kSchemaDepthMax);
    }
    if (element.type) {
      column.type = *element.type;
      column.width = element.width;
      column.is_unsigned = element.is_unsigned && column.is_integer();
      column.is_text = element.is_text;
      column.is_half = element.is_half && column.type == ParquetType::kFixedBytes && column.width == 2;
      if (columns_.size() == ParquetFooter::kColumnsMax) {
        fail(ErrorKind::kData, "it has more than {} columns", ParquetFooter::kColumnsMax);
      }
      columns_.push_back(std::move(column));
    } else {
      const bool has_bytes = is_bytes_with_path(element);
      for (std::size_t i = 0; i < element.children; ++i) {
        const bool is_bytes = has_bytes && peek().name == "bytes";
        visit(column, is_bytes ? Naming::kNone : naming_of_child(element, naming));
      }
    }
    --depth_;
  }

  const std::vector<SchemaElement>& all_;
  std::size_t at_ = 0;
  std::uint32_t depth_ = 0;
  std::vector<ParquetColumn> columns_;
};

/// A chunk as the footer has it, before it is known to be sound.
struct StatedChunk {
  std::optional<std::int64_t> type, codec, values, bytes, data_page;
  std::int64_t dictionary_page = 0;
  bool elsewhere = false, encrypted = false;
};

void read_chunk_facts(ThriftReader& footer, ThriftType type, StatedChunk& chunk) {
  footer.read_struct(type, [&](int number, ThriftType field) {
    switch (number) {
      case 1: chunk.type = footer.integer(field); break;
      case 4: chunk.codec = footer.integer(field); break;
      case 5: chunk.values = footer.integer(field); break;
      case 7: chunk.bytes = footer.integer(field); break;
      case 9: chunk.data_page = footer.integer(field); break;
      case 11: chunk.dictionary_page = footer.integer(field); break;
      default: footer.skip(field);
    }
  });
}

StatedChunk read_chunk(ThriftReader& footer, ThriftType type) {
  StatedChunk chunk;
  footer.read_struct(type, [&](int number, ThriftType field) {
    switch (number) {
      case 1: chunk.elsewhere = !footer.binary(field).empty(); break;
      case 3: read_chunk_facts(footer, field, chunk); break;
      case 8:
        chunk.encrypted = true;
        footer.skip(field);
        break;
      default: footer.skip(field);
    }
  });
  return chunk;
}

struct FooterParser {
  Source& file;
  std::uint64_t end;  // of what chunks may lie in
  ParquetFooter& into;
  std::uint64_t rows = 0, chunk_bytes = 0, list_values = 0;

  void parse(Bytes bytes) {
    ThriftReader footer(bytes);
    std::vector<SchemaElement> schema;
    std::optional<std::int64_t> stated_rows;
    footer.read_struct([&](int number, ThriftType field) {
      switch (number) {
        case 2:
          if (!schema.empty()) fail(ErrorKind::kData, "it has two schemas");
          footer.read_list(field, [&](ThriftType type) { add_element(footer, type, schema); });
          into.columns = SchemaWalk(schema).columns();
          break;
        case 3: stated_rows = footer.integer(field); break;
        case 4:
          if (schema.empty()) fail(ErrorKind::kData, "its row groups come before its schema");
          footer.read_list(field, [&](ThriftType type) { read_group(footer, type); });
          break;
        case 5: footer.read_list(field, [&](ThriftType type) { read_key_value(footer, type); }); break;
        default: footer.skip(field);
      }
    });
    if (footer.position() != bytes.size()) fail(ErrorKind::kData, "it is followed by other bytes");
    if (into.columns.empty()) fail(ErrorKind::kData, "it has no columns");
    if (!stated_rows || not_negative(*stated_rows) != rows) {
      fail(ErrorKind::kData, "its row groups do not have as many rows as it says");
    }
  }

  /// An element takes more memory than bytes of the file: what no schema has is not kept.
  static void add_element(ThriftReader& footer, ThriftType type, std::vector<SchemaElement>& schema) {
    constexpr std::size_t kElementsMax = kSchemaDepthMax * ParquetFooter::kColumnsMax;
    if (schema.size() == kElementsMax) fail(ErrorKind::kData, "its schema has more than {} elements", kElementsMax);
    schema.push_back(read_element(footer, type));
  }

  void read_key_value(ThriftReader& footer, ThriftType type) {
    std::string_view key, value;
    footer.read_struct(type, [&](int number, ThriftType field) {
      if (number == 1) {
        key = footer.binary(field);
      } else if (number == 2) {
        value = footer.binary(field);
      } else {
        footer.skip(field);
      }
    });
    if (key == "huggingface") into.huggingface = value;
  }

  void read_group(ThriftReader& footer, ThriftType type) {
    ParquetRowGroup group;
    std::vector<StatedChunk> chunks;
    std::optional<std::int64_t> stated_rows;
    const auto refuse_columns = [&] {
      fail(ErrorKind::kData, "row group {} does not have the columns of the schema", into.groups.size());
    };
    footer.read_struct(type, [&](int number, ThriftType field) {
      if (number == 1) {
        footer.read_list(field, [&](ThriftType element) {
          if (chunks.size() == into.columns.size()) refuse_columns();
          chunks.push_back(read_chunk(footer, element));
        });
      } else if (number == 3) {
        stated_rows = footer.integer(field);
      } else {
        footer.skip(field);
      }
    });
    if (!stated_rows || chunks.size() != into.columns.size()) refuse_columns();
    group.rows = not_negative(*stated_rows);
    // A row of images takes more than a byte: so a file cannot ask for more memory than a multiple of its size.
    if (group.rows > file.size() - rows) {
      fail(ErrorKind::kData, "it says that the file, which has {}, has more rows than that", byte_count(file.size()));
    }
    rows += group.rows;
    // What a group without rows says of its chunks is often nothing, and they lie nowhere.
    if (group.rows == 0) chunks.clear();
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      try {
        group.chunks.push_back(checked(chunks[i], into.columns[i], group.rows));
      } catch (const Error& wrong) {
        throw wrong.with_context(fmt::format("column '{}' of row group {}", into.columns[i].path, into.groups.size()));
      }
    }
    into.groups.push_back(std::move(group));
  }

  ParquetChunk checked(const StatedChunk& stated, const ParquetColumn& column, std::uint64_t group_rows) {
    if (stated.encrypted) {
      fail(ErrorKind::kData, "it is encrypted, and Stoker has no keys; write the file anew without encryption");
    }
    if (stated.elsewhere) fail(ErrorKind::kData, "its values are in another file");
    if (!stated.type || !stated.codec || !stated.values || !stated.bytes || !stated.data_page) {
      fail(ErrorKind::kData, "it is not described completely");
    }
    if (*stated.type != static_cast<std::int64_t>(column.type)) {
      fail(ErrorKind::kData, "its values are of another type than the schema says");
    }
    ParquetChunk chunk;
    chunk.codec = enum_of(*stated.codec, ParquetCodec::kLz4, "codec");
    chunk.values = not_negative(*stated.values);
    const bool is_list = column.repetition_max > 0;
    if (is_list ? chunk.values < group_rows : chunk.values != group_rows) {
      fail(ErrorKind::kData, "it has {} for {}", counted(chunk.values, "value"), counted(group_rows, "row"));
    }
    if (is_list && (list_values += chunk.values) / kValuesPerByteMax > file.size()) {
      fail(ErrorKind::kData, "with it the lists have {}, too many for a file of {}", counted(list_values, "value"),
           byte_count(file.size()));
    }
    chunk.begin = not_negative(*stated.data_page);
    if (stated.dictionary_page > 0) {
      chunk.begin = std::min(chunk.begin, static_cast<std::uint64_t>(stated.dictionary_page));
    }
    chunk.bytes = not_negative(*stated.bytes);
    // Chunks do not overlap, so together they are not longer than the file.
    if (chunk.begin < kParquetMagic.size() || chunk.begin > end || chunk.bytes > end - chunk.begin ||
        chunk.bytes > end - chunk_bytes) {
      fail(ErrorKind::kData, "its {} at byte {} do not lie inside the file", byte_count(chunk.bytes), chunk.begin);
    }
    chunk_bytes += chunk.bytes;
    return chunk;
  }
};

[[noreturn]] void fail_encrypted(const Source& file) {
  fail(ErrorKind::kData, "'{}' is encrypted, and Stoker has no keys; write it anew without encryption", file.name());
}

/// The footer's bytes.
std::vector<std::uint8_t> read_footer_bytes(Source& file) {
  constexpr std::size_t kLeast = 2 * kParquetMagic.size() + sizeof(std::uint32_t);
  const std::uint64_t size = file.size();
  if (size < kLeast) {
    fail(ErrorKind::kData, "'{}' is truncated: it has {}, and no Parquet file is as small", file.name(),
         byte_count(size));
  }
  std::uint8_t head[kParquetMagic.size()];
  std::uint8_t end[kParquetEndBytes];
  read_fully(file, 0, head);
  read_fully(file, size - kParquetEndBytes, end);
  const std::string_view magic = as_text(Bytes(end).last(kParquetMagic.size()));
  if (magic == kEncryptedParquetMagic) fail_encrypted(file);
  if (as_text(head) != kParquetMagic) {
    fail(ErrorKind::kData, "'{}' is not a Parquet file: it does not begin with '{}'", file.name(), kParquetMagic);
  }
  if (magic != kParquetMagic) {
    fail(ErrorKind::kData, "'{}' is truncated: a Parquet file ends in '{}', and it does not", file.name(),
         kParquetMagic);
  }
  const std::uint64_t length = load_little_endian<std::uint32_t>(end);
  if (length > size - kLeast || length > ParquetFooter::kBytesMax) {
    fail(ErrorKind::kData,
         "'{}' is damaged: it says that its footer has {}; the file has {}, and Stoker reads up to {}", file.name(),
         byte_count(length), byte_count(size), ParquetFooter::kBytesMax);
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(length));
  read_fully(file, size - kParquetEndBytes - length, bytes);
  return bytes;
}

}  // namespace

ParquetFooter read_parquet_footer(Source& file) {
  const std::vector<std::uint8_t> bytes = read_footer_bytes(file);
  ParquetFooter footer;
  try {
    FooterParser{.file = file, .end = file.size() - kParquetEndBytes - bytes.size(), .into = footer}.parse(bytes);
  } catch (const Error& wrong) {
    if (wrong.kind() != ErrorKind::kData) throw;
    fail(ErrorKind::kData, "'{}': its footer cannot be used: {}", file.name(), wrong.message());
  }
  return footer;
}

}  // namespace stoker
