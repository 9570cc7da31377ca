#include "stoker/format/parquet/parquet_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libdeflate.h>
#include <lz4.h>
#include <snappy.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <span>

#include "stoker/base/error_testing.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/parquet/parquet_format.h"
#include "stoker/format/parquet/thrift_writer.h"
#include "stoker/format/scan_testing.h"
#include "stoker/storage/packed_integers.h"
#include "stoker/storage/packed_integers_testing.h"

namespace stoker {
namespace {

template <typename Integer>
std::string little_endian(Integer value) {
  std::vector<std::uint8_t> bytes;
  append_little_endian(bytes, value);
  return std::string(as_text(bytes));
}

std::string with_length(std::string_view bytes) {
  return little_endian(static_cast<std::uint32_t>(bytes.size())) + std::string(bytes);
}

std::string compressed_by(ParquetCodec codec, const std::string& bytes) {
  std::string into;
  switch (codec) {
    case ParquetCodec::kSnappy: snappy::Compress(bytes.data(), bytes.size(), &into); return into;
    case ParquetCodec::kZstd:
      into.resize(ZSTD_compressBound(bytes.size()));
      into.resize(ZSTD_compress(into.data(), into.size(), bytes.data(), bytes.size(), 3));
      return into;
    case ParquetCodec::kGzip: {
      libdeflate_compressor* const compressor = libdeflate_alloc_compressor(6);
      into.resize(libdeflate_gzip_compress_bound(compressor, bytes.size()));
      into.resize(libdeflate_gzip_compress(compressor, bytes.data(), bytes.size(), into.data(), into.size()));
      libdeflate_free_compressor(compressor);
      return into;
    }
    case ParquetCodec::kLz4: {
      const int size = static_cast<int>(bytes.size());
      into.resize(static_cast<std::size_t>(LZ4_compressBound(size)));
      into.resize(
          static_cast<std::size_t>(LZ4_compress_default(bytes.data(), into.data(), size, LZ4_compressBound(size))));
      return into;
    }
    default: return bytes;  // as if it were
  }
}

/// One column of one row group, as pages.
class ChunkWriter {
 public:
  ChunkWriter(const ParquetTestColumn& column, const ParquetTestOptions& options)
      : column_(column), options_(options), is_list_(column.path.find(".list.") != std::string::npos) {}

  struct Chunk {
    std::string pages;
    std::size_t values = 0;
    std::optional<std::size_t> dictionary_bytes{};
  };

  Chunk chunk(std::size_t begin, std::size_t end) {
    Chunk chunk;
    if (is_dictionary()) {
      std::string plain;
      for (std::size_t row = begin; row < end; ++row) {
        for (const auto& value : column_.rows[row]) {
          if (!value || std::find(dictionary_.begin(), dictionary_.end(), *value) != dictionary_.end()) continue;
          dictionary_.push_back(*value);
          plain += plain_of(*value);
        }
      }
      add_page(chunk.pages, ParquetPageHeader::Kind::kDictionary, dictionary_.size(), 0, {}, plain + options_.spare);
      chunk.dictionary_bytes = chunk.pages.size();
    }
    for (std::size_t row = begin; row < end; row += options_.rows_per_page) {
      const std::vector<Entry> entries = entries_of(row, std::min(end, row + options_.rows_per_page));
      for (std::size_t at = 0; at < entries.size(); at += options_.entries_per_page) {
        data_page(chunk.pages,
                  std::span(entries).subspan(at, std::min(options_.entries_per_page, entries.size() - at)));
      }
      chunk.values += entries.size();
    }
    return chunk;
  }

 private:
  bool is_dictionary() const {
    return column_.encoding == ParquetEncoding::kDictionary || column_.encoding == ParquetEncoding::kPlainDictionary;
  }
  std::string plain_of(const std::string& value) const {
    return column_.type == ParquetType::kByteArray ? with_length(value) : value;
  }

  struct Entry {
    std::uint32_t repetition, definition;
    std::optional<std::string> value{};
  };

  std::vector<Entry> entries_of(std::size_t begin, std::size_t end) const {
    std::vector<Entry> entries;
    for (std::size_t row = begin; row < end; ++row) {
      const std::uint32_t element = is_list_ ? 1 : 0;
      if (column_.rows[row].empty()) entries.push_back({0, 0});
      for (std::size_t i = 0; i < column_.rows[row].size(); ++i) {
        const auto& value = column_.rows[row][i];
        entries.push_back({i > 0 ? 1U : 0U, element + (column_.is_optional && value ? 1 : 0), value});
      }
    }
    return entries;
  }

  void data_page(std::string& pages, std::span<const Entry> entries) const {
    std::vector<std::uint32_t> repetitions, definitions;
    std::vector<std::string> values;
    for (const Entry& entry : entries) {
      repetitions.push_back(entry.repetition);
      definitions.push_back(entry.definition);
      if (entry.value) values.push_back(*entry.value);
    }
    const std::uint32_t definition_max = this->definition_max();
    const std::string repetition = is_list_ ? run_length_packed(repetitions, 1) : "";
    const std::string definition = definition_max > 0 ? run_length_packed(definitions, bits_for(definition_max)) : "";
    if (options_.version_2) {
      add_page(pages, ParquetPageHeader::Kind::kData2, definitions.size(), repetition.size(), repetition + definition,
               encoded(values) + options_.spare);
    } else {
      const std::string levels = (is_list_ ? with_length(repetition) : "") +  //
                                 (definition_max > 0 ? with_length(definition) : "");
      add_page(pages, ParquetPageHeader::Kind::kData, definitions.size(), 0, {},
               levels + encoded(values) + options_.spare);
    }
  }

  std::uint32_t definition_max() const { return (is_list_ ? 1U : 0U) + (column_.is_optional ? 1U : 0U); }
  std::int32_t level_encoding(bool is_there) const {
    const bool is_packed = is_there ? options_.packs_levels : options_.packs_absent_levels;
    return static_cast<std::int32_t>(is_packed ? ParquetEncoding::kBitPacked : ParquetEncoding::kRunLengths);
  }

  std::string encoded(const std::vector<std::string>& values) const {
    std::string bytes;
    std::vector<std::uint32_t> numbers;
    std::vector<std::int64_t> integers;
    std::vector<std::uint64_t> bits;
    for (const std::string& value : values) {
      numbers.push_back(
          static_cast<std::uint32_t>(std::find(dictionary_.begin(), dictionary_.end(), value) - dictionary_.begin()));
      integers.push_back(column_.type == ParquetType::kByteArray ? static_cast<std::int64_t>(value.size())
                         : value.size() == 4 ? load_little_endian<std::int32_t>(as_bytes(value).data())
                         : value.size() == 8 ? load_little_endian<std::int64_t>(as_bytes(value).data())
                                             : 0);
      bits.push_back(static_cast<unsigned char>(value.empty() ? 0 : value[0]));
    }
    if (is_dictionary()) {
      const std::uint32_t width =
          bits_for(static_cast<std::uint32_t>(std::max<std::size_t>(dictionary_.size(), 1) - 1));
      return static_cast<char>(width) + run_length_packed(numbers, width);
    }
    if (column_.encoding == ParquetEncoding::kDelta) return delta_packed(integers);
    if (column_.encoding == ParquetEncoding::kRunLengths) {
      return with_length(run_length_packed(std::vector<std::uint32_t>(bits.begin(), bits.end()), 1));
    }
    if (column_.type == ParquetType::kBoolean) return bits_packed(bits, 1);
    if (column_.encoding == ParquetEncoding::kSplitBytes) {
      for (std::size_t byte = 0; !values.empty() && byte < values[0].size(); ++byte) {
        for (const std::string& value : values) bytes += value[byte];
      }
      return bytes;
    }
    if (column_.encoding == ParquetEncoding::kDeltaLengths) bytes = delta_packed(integers);
    for (const std::string& value : values) {
      bytes += column_.encoding == ParquetEncoding::kDeltaLengths ? value : plain_of(value);
    }
    return bytes;
  }

  void add_page(std::string& pages, ParquetPageHeader::Kind kind, std::size_t values, std::size_t repetition_bytes,
                const std::string& levels, const std::string& body) const {
    const std::string stored = levels + compressed_by(options_.codec, body);
    ThriftWriter header;
    header.int32(1, static_cast<std::int32_t>(kind));
    header.int32(2, static_cast<std::int32_t>(levels.size() + body.size()));
    header.int32(3, static_cast<std::int32_t>(stored.size()));
    if (options_.has_checksums) {
      header.int32(4, static_cast<std::int32_t>(libdeflate_crc32(0, stored.data(), stored.size())));
    }
    const auto encoding = static_cast<std::int32_t>(column_.encoding);
    const auto count = static_cast<std::int32_t>(values);
    if (kind == ParquetPageHeader::Kind::kDictionary) {
      header.begin_struct(7);
      header.int32(1, count);
      header.int32(2, 0);
    } else if (kind == ParquetPageHeader::Kind::kData) {
      header.begin_struct(5);
      header.int32(1, count);
      header.int32(2, encoding);
      header.int32(3, level_encoding(definition_max() > 0));
      header.int32(4, level_encoding(is_list_));
    } else {
      header.begin_struct(8);
      header.int32(1, count);
      header.int32(2, 0);
      header.int32(3, 0);
      header.int32(4, encoding);
      header.int32(5, static_cast<std::int32_t>(levels.size() - repetition_bytes));
      header.int32(6, static_cast<std::int32_t>(repetition_bytes));
    }
    header.end_struct();
    header.end_struct();
    pages += header.bytes() + stored;
  }

  const ParquetTestColumn& column_;
  const ParquetTestOptions& options_;
  bool is_list_;
  std::vector<std::string> dictionary_;
};

std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> steps;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    steps.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return steps;
}

/// An element of the schema and what it holds.
struct SchemaNode {
  std::string name;
  const ParquetTestColumn* column = nullptr;
  std::vector<SchemaNode> children{};

  void add(const std::vector<std::string>& steps, std::size_t at, const ParquetTestColumn& leaf) {
    if (at == steps.size()) {
      column = &leaf;
      return;
    }
    if (children.empty() || children.back().name != steps[at]) children.push_back({.name = steps[at]});
    children.back().add(steps, at + 1, leaf);
  }
  std::size_t count() const {
    std::size_t sum = 1;
    for (const SchemaNode& child : children) sum += child.count();
    return sum;
  }
  void write(ThriftWriter& footer, bool is_root, const ParquetTestOptions& options) const {
    footer.begin_element();
    if (column) {
      footer.int32(1, static_cast<std::int32_t>(column->type));
      if (column->type == ParquetType::kFixedBytes) {
        footer.int32(2, static_cast<std::int32_t>(column->rows.at(0).at(0)->size()));
      }
    }
    if (!is_root) footer.int32(3, name == "list" ? 2 : column && column->is_optional ? 1 : 0);
    footer.binary(4, name);
    if (!column) footer.int32(5, static_cast<std::int32_t>(children.size()));
    if (children.size() == 1 && children[0].name == "list") footer.int32(6, 3);
    if (column && column->is_unsigned) {
      constexpr std::int32_t kU32 = 13, kU64 = 14;
      footer.int32(6, column->type == ParquetType::kInt32 ? kU32 : kU64);
      if (options.has_logical_types) {
        footer.begin_struct(10);
        footer.begin_struct(10);
        footer.int32(1, column->type == ParquetType::kInt32 ? 32 : 64);
        footer.boolean(2, false);
        footer.end_struct();
        footer.end_struct();
      }
    }
    if (column && column->is_half) {
      footer.begin_struct(10);
      footer.begin_struct(15);
      footer.end_struct();
      footer.end_struct();
    }
    footer.end_struct();
    for (const SchemaNode& child : children) child.write(footer, false, options);
  }
};

struct WrittenChunk {
  std::size_t begin = 0;
  ChunkWriter::Chunk chunk;
};

void write_group(ThriftWriter& footer, const std::vector<ParquetTestColumn>& columns,
                 const std::vector<WrittenChunk>& chunks, std::size_t rows, const ParquetTestOptions& options) {
  footer.begin_element();
  footer.begin_list(1, ThriftType::kStruct, chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const WrittenChunk& one = chunks[i];
    footer.begin_element();
    footer.int64(2, 0);
    footer.begin_struct(3);
    footer.int32(1, static_cast<std::int32_t>(columns[i].type));
    footer.begin_list(2, ThriftType::kI32, 1);
    footer.int32_element(static_cast<std::int32_t>(columns[i].encoding));
    const std::vector<std::string> steps = steps_of(columns[i].path);
    footer.begin_list(3, ThriftType::kBinary, steps.size());
    for (const std::string& step : steps) footer.binary_element(step);
    footer.int32(4, static_cast<std::int32_t>(options.codec));
    footer.int64(5, static_cast<std::int64_t>(one.chunk.values));
    footer.int64(6, static_cast<std::int64_t>(one.chunk.pages.size()));
    footer.int64(7, static_cast<std::int64_t>(one.chunk.pages.size()));
    footer.int64(9, static_cast<std::int64_t>(one.begin + one.chunk.dictionary_bytes.value_or(0)));
    if (one.chunk.dictionary_bytes) footer.int64(11, static_cast<std::int64_t>(one.begin));
    footer.end_struct();
    footer.end_struct();
  }
  footer.int64(2, 0);
  footer.int64(3, static_cast<std::int64_t>(rows));
  footer.end_struct();
}

}  // namespace

std::string plain_int32(std::int32_t value) { return little_endian(value); }
std::string plain_int64(std::int64_t value) { return little_endian(value); }
std::string plain_float(float value) { return little_endian(std::bit_cast<std::uint32_t>(value)); }

std::string parquet_around(std::string_view pages, std::string_view footer) {
  std::string file(kParquetMagic);
  return file.append(pages)
      .append(footer)
      .append(little_endian(static_cast<std::uint32_t>(footer.size())))
      .append(kParquetMagic);
}

std::string parquet_file(const std::vector<ParquetTestColumn>& columns, const ParquetTestOptions& options) {
  const std::size_t rows = columns.at(0).rows.size();
  SchemaNode root{.name = "schema"};
  for (const ParquetTestColumn& column : columns) {
    assert(column.rows.size() == rows);
    root.add(steps_of(column.path), 0, column);
  }
  ThriftWriter footer;
  footer.int32(1, 2);
  footer.begin_list(2, ThriftType::kStruct, root.count());
  root.write(footer, true, options);
  footer.int64(3, static_cast<std::int64_t>(rows));
  const std::size_t groups = (rows + options.rows_per_group - 1) / options.rows_per_group;
  footer.begin_list(4, ThriftType::kStruct, options.has_empty_groups ? 2 * groups + 1 : groups);
  std::string pages;
  const auto write_empty_group = [&] {
    if (options.has_empty_groups) write_group(footer, columns, std::vector<WrittenChunk>(columns.size()), 0, options);
  };
  write_empty_group();
  for (std::size_t begin = 0; begin < rows; begin += options.rows_per_group) {
    const std::size_t end = std::min(rows, begin + options.rows_per_group);
    std::vector<WrittenChunk> chunks;
    for (const ParquetTestColumn& column : columns) {
      chunks.push_back(
          {.begin = kParquetMagic.size() + pages.size(), .chunk = ChunkWriter(column, options).chunk(begin, end)});
      pages += chunks.back().chunk.pages;
    }
    write_group(footer, columns, chunks, end - begin, options);
    write_empty_group();
  }
  if (!options.huggingface.empty()) {
    footer.begin_list(5, ThriftType::kStruct, 1);
    footer.begin_element();
    footer.binary(1, "huggingface");
    footer.binary(2, options.huggingface);
    footer.end_struct();
  }
  footer.binary(6, "a test");
  footer.end_struct();
  return parquet_around(pages, footer.bytes());
}

std::vector<ParquetTestColumn> parquet_columns_of(const std::vector<ParquetTestSample>& samples) {
  std::vector<ParquetTestColumn> columns = {{.path = "__key__"},
                                            {.path = "image.bytes", .is_optional = true},
                                            {.path = "image.path", .is_optional = true},
                                            {.path = "label", .type = ParquetType::kInt64, .is_optional = true},
                                            {.path = "note", .is_optional = true}};
  for (const ParquetTestSample& sample : samples) {
    columns[0].rows.push_back({sample.key});
    columns[1].rows.push_back({sample.image});
    columns[2].rows.push_back({std::nullopt});
    columns[3].rows.push_back({plain_int64(sample.label)});
    columns[4].rows.push_back({sample.note});
  }
  return columns;
}

std::vector<ParquetTestColumn> some_parquet_columns() {
  return parquet_columns_of({{.key = "a/1", .label = 3, .image = kParquetJpeg, .note = "one"},
                             {.key = "b/2", .label = -1, .image = kParquetPng},
                             {.key = "c/3", .label = 0, .image = kParquetJpeg + "!", .note = ""}});
}

MemorySource parquet_source(std::string_view bytes) {
  return MemorySource("data/train-00000-of-00002.parquet", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

std::vector<std::string> parquet_listing(std::string_view bytes, ShardNotes* notes) {
  MemorySource source = parquet_source(bytes);
  ParquetSamples samples(source);
  return scan_listing(samples, notes);
}

std::string parquet_refusal(std::string_view bytes) {
  const Error error = error_of([&] { parquet_listing(bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), ::testing::HasSubstr("'data/train-00000-of-00002.parquet'"));
  return error.message();
}

}  // namespace stoker
