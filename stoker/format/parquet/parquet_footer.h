// What the footer of a Parquet file says: its columns, and where each row group keeps their values. The file:
//
//        "PAR1"
//        row groups: of each, the column chunks; of each, pages, a page with the dictionary first if it has one
//        FileMetaData, in Thrift's compact protocol
//   u32  its length
//        "PAR1"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/storage/source.h"

namespace stoker {

inline constexpr std::string_view kParquetMagic = "PAR1";
inline constexpr std::string_view kEncryptedParquetMagic = "PARE";

/// How a value is stored; the numbers are the format's.
enum class ParquetType : std::uint8_t {
  kBoolean = 0,
  kInt32 = 1,
  kInt64 = 2,
  kInt96 = 3,
  kFloat = 4,
  kDouble = 5,
  kByteArray = 6,
  kFixedBytes = 7,
};

enum class ParquetCodec : std::uint8_t {
  kUncompressed = 0,
  kSnappy = 1,
  kGzip = 2,
  kLzo = 3,
  kBrotli = 4,
  kLz4Framed = 5,  // as Hadoop wrote it
  kZstd = 6,
  kLz4 = 7,
};

/// A column of values: a leaf of the schema.
struct ParquetColumn {
  std::string path;  // for messages: "images.list.element.bytes"
  // Without what the schema needs and people do not: the steps of a list, and "bytes" of a struct of bytes and path.
  // Joined by slashes: "images", "images/path".
  std::string name;
  ParquetType type = ParquetType::kByteArray;
  bool is_unsigned = false;              // of integers
  bool is_half = false;                  // of two fixed bytes: a float16
  bool is_text = false;                  // of byte strings, by their type
  std::uint32_t width = 0;               // of each value in bytes; 0 for booleans and byte arrays
  std::uint32_t definition_max = 0;      // the level of a value that is there
  std::uint32_t repetition_max = 0;      // how many lists it lies in
  std::uint32_t element_definition = 0;  // the least level of an element of the innermost list, which may be null

  bool is_integer() const { return type == ParquetType::kInt32 || type == ParquetType::kInt64; }
};

/// The values of one column in one row group: a range of the file that holds its pages.
struct ParquetChunk {
  std::uint64_t begin = 0, bytes = 0;
  std::uint64_t values = 0;  // nulls counted
  ParquetCodec codec = ParquetCodec::kUncompressed;
};

struct ParquetRowGroup {
  std::uint64_t rows = 0;
  std::vector<ParquetChunk> chunks;  // by column; none in a group without rows
};

struct ParquetFooter {
  static constexpr std::uint64_t kBytesMax = std::uint64_t{64} << 20;
  static constexpr std::size_t kColumnsMax = 4096;

  std::vector<ParquetColumn> columns;
  std::vector<ParquetRowGroup> groups;
  std::string huggingface;  // the JSON text that Hugging Face's `datasets` keeps in its files; empty in others
};

/// Throws kData naming the file if it is truncated, damaged, encrypted, or not of this format, or where the footer says
/// what no file of its size can hold; and what reading throws.
ParquetFooter read_parquet_footer(Source& file);

}  // namespace stoker
