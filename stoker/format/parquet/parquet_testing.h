// Writes Parquet files of every kind that the format allows, and reads them, for tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/parquet/parquet_footer.h"
#include "stoker/format/parquet/parquet_page.h"
#include "stoker/format/shard_format.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {

/// The values of a row: one, or those of its list. Each as the bytes that PLAIN stores, without a length in front;
/// truth values as "\1" and "\0"; none for a null.
using ParquetTestRow = std::vector<std::optional<std::string>>;

struct ParquetTestColumn {
  /// "image.bytes"; a step "list" is repeated, and what it lies in is a list.
  std::string path;
  ParquetType type = ParquetType::kByteArray;
  bool is_optional = false;  // its values may be null
  bool is_unsigned = false;  // of integers
  bool is_half = false;      // of two fixed bytes
  ParquetEncoding encoding = ParquetEncoding::kPlain;
  std::vector<ParquetTestRow> rows{};
};

struct ParquetTestOptions {
  ParquetCodec codec = ParquetCodec::kUncompressed;
  bool version_2 = false;     // of data pages
  bool has_checksums = true;  // of pages
  std::size_t rows_per_group = 1000, rows_per_page = 1000;
  std::size_t entries_per_page = 1000000;  // of lists; pages may end within one
  bool packs_absent_levels = false;        // pages say BIT_PACKED of levels that their column has not
  bool packs_levels = false;               // and of those that it has
  std::string spare{};                     // what follows the values of pages and dictionaries
  bool has_empty_groups = false;  // in front of each row group and after the last, with chunks that lie nowhere
  bool has_logical_types = true;  // besides those that older files have alone
  std::string huggingface{};
};

/// All columns have the same number of rows.
std::string parquet_file(const std::vector<ParquetTestColumn>& columns, const ParquetTestOptions& options = {});

/// The whole file around a footer and what lies before it.
std::string parquet_around(std::string_view pages, std::string_view footer);

/// "\5\0\0\0" and so on: values as PLAIN stores them.
std::string plain_int32(std::int32_t value);
std::string plain_int64(std::int64_t value);
std::string plain_float(float value);

/// Columns and rows of {key, label, image, a note or none}, as `datasets` would write them.
struct ParquetTestSample {
  std::string key;
  std::int64_t label = 0;
  std::string image;
  std::optional<std::string> note{};
};
std::vector<ParquetTestColumn> parquet_columns_of(const std::vector<ParquetTestSample>& samples);

/// What begins as an image of that kind.
inline const std::string kParquetJpeg =
                             "\xff\xd8\xff"
                             "photograph",
                         kParquetPng =
                             "\x89PNG\r\n\x1a\n"
                             "drawing";

/// Three samples, one with a null.
std::vector<ParquetTestColumn> some_parquet_columns();

/// The file under a name as `datasets` gives it.
MemorySource parquet_source(std::string_view bytes);

/// "key label field=content ..." of each sample.
std::vector<std::string> parquet_listing(std::string_view bytes, ShardNotes* notes = nullptr);

/// Why the file is refused: kData, with its name.
std::string parquet_refusal(std::string_view bytes);

}  // namespace stoker
