// The header in front of each page of a column chunk.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/base/bytes.h"
#include "stoker/format/parquet/parquet_footer.h"
#include "stoker/storage/block_codec.h"

namespace stoker {

class SequentialReader;

/// How a page's values are written; the numbers are the format's.
enum class ParquetEncoding : std::uint8_t {
  kPlain = 0,
  kPlainDictionary = 2,  // as kDictionary; of the dictionary itself, as kPlain
  kRunLengths = 3,
  kBitPacked = 4,
  kDelta = 5,
  kDeltaLengths = 6,
  kDeltaStrings = 7,
  kDictionary = 8,
  kSplitBytes = 9,
};

/// "DELTA_BINARY_PACKED": as the format's documents call it.
std::string_view parquet_encoding_name(ParquetEncoding encoding);

struct ParquetPageHeader {
  enum class Kind : std::uint8_t { kData = 0, kIndex = 1, kDictionary = 2, kData2 = 3 };

  Kind kind = Kind::kData;
  std::uint32_t length = 0, stored_length = 0;  // of what follows the header: decompressed, and in the file
  std::optional<std::uint32_t> crc32{};         // of what is stored
  std::uint32_t values = 0;                     // nulls counted
  ParquetEncoding encoding = ParquetEncoding::kPlain;
  // In a page of kind kData the levels are compressed with the values and have their lengths in front. In kData2 they
  // stand in front as they are, first those of repetition.
  // Some writers say BIT_PACKED of levels that their column does not have.
  bool has_run_length_repetitions = true, has_run_length_definitions = true;
  std::uint32_t repetition_bytes = 0, definition_bytes = 0;
  bool is_compressed = true;

  std::uint32_t level_bytes() const { return repetition_bytes + definition_bytes; }
};

/// Takes the next page's header. Throws kData, as a clause that says what is wrong, unless what follows it lies in the
/// chunk and is not larger than Stoker decompresses.
ParquetPageHeader take_page_header(SequentialReader& chunk);

/// Throws kData if the file has a checksum of a page and it does not match.
void check_page(const ParquetPageHeader& header, Bytes stored);

/// The codec of pages that are not stored as they are. Throws kData for one that Stoker does not read, as a clause that
/// says what to do.
BlockCodec block_codec_of(ParquetCodec codec);

/// Throws kData if no block of that codec that has so many bytes can become so many.
void require_plausible(BlockCodec codec, std::uint64_t stored_length, std::uint64_t length);

}  // namespace stoker
