#include "stoker/format/parquet/parquet_page.h"

#include <libdeflate.h>

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/parquet/thrift_reader.h"
#include "stoker/format/sequential_reader.h"

namespace stoker {
namespace {

std::uint32_t page_number(std::int32_t number) {
  if (number < 0) fail(ErrorKind::kData, "its header has a length or a number of values below 0");
  return static_cast<std::uint32_t>(number);
}

ParquetEncoding encoding_of(std::int32_t number) {
  constexpr auto kLast = static_cast<std::int32_t>(ParquetEncoding::kSplitBytes);
  if (number < 0 || number > kLast || number == 1) {
    fail(ErrorKind::kData, "its encoding, number {}, is one that this version of Stoker does not know", number);
  }
  return static_cast<ParquetEncoding>(number);
}

/// The header of pages of one kind: which of its fields mean what.
struct HeaderFields {
  int values, encoding, definition = 0, repetition = 0, is_compressed = 0;
  bool levels_have_encodings = false;
};

constexpr HeaderFields kDataFields{
    .values = 1, .encoding = 2, .definition = 3, .repetition = 4, .levels_have_encodings = true};
constexpr HeaderFields kDictionaryFields{.values = 1, .encoding = 2};
constexpr HeaderFields kData2Fields{.values = 1, .encoding = 4, .definition = 5, .repetition = 6, .is_compressed = 7};

void read_kind(ThriftReader& reader, ThriftType type, const HeaderFields& fields, ParquetPageHeader& into) {
  bool has_values = false, has_encoding = false;
  const auto read_level = [&](ThriftType field, std::uint32_t& bytes, bool& has_run_lengths) {
    const std::int32_t number = reader.int32(field);
    if (fields.levels_have_encodings) {
      has_run_lengths = number == static_cast<std::int32_t>(ParquetEncoding::kRunLengths);
    } else {
      bytes = page_number(number);
    }
  };
  reader.read_struct(type, [&](int number, ThriftType field) {
    if (number == fields.values) {
      into.values = page_number(reader.int32(field));
      has_values = true;
    } else if (number == fields.encoding) {
      into.encoding = encoding_of(reader.int32(field));
      has_encoding = true;
    } else if (number == fields.definition) {
      read_level(field, into.definition_bytes, into.has_run_length_definitions);
    } else if (number == fields.repetition) {
      read_level(field, into.repetition_bytes, into.has_run_length_repetitions);
    } else if (number == fields.is_compressed) {
      into.is_compressed = reader.boolean(field);
    } else {
      reader.skip(field);
    }
  });
  if (!has_values || !has_encoding) fail(ErrorKind::kData, "its header is not complete");
}

ParquetPageHeader read_header(ThriftReader& reader) {
  using Kind = ParquetPageHeader::Kind;
  ParquetPageHeader header;
  std::optional<std::int32_t> kind, length, stored_length;
  std::optional<Kind> described;
  const auto read = [&](ThriftType type, const HeaderFields& fields, Kind as) {
    read_kind(reader, type, fields, header);
    described = as;
  };
  reader.read_struct([&](int number, ThriftType field) {
    switch (number) {
      case 1: kind = reader.int32(field); break;
      case 2: length = reader.int32(field); break;
      case 3: stored_length = reader.int32(field); break;
      case 4: header.crc32 = static_cast<std::uint32_t>(reader.int32(field)); break;
      case 5: read(field, kDataFields, Kind::kData); break;
      case 7: read(field, kDictionaryFields, Kind::kDictionary); break;
      case 8: read(field, kData2Fields, Kind::kData2); break;
      default: reader.skip(field);
    }
  });
  if (!kind || !length || !stored_length) fail(ErrorKind::kData, "its header is not complete");
  if (*kind < 0 || *kind > static_cast<std::int32_t>(Kind::kData2)) {
    fail(ErrorKind::kData, "its kind, number {}, is one that this version of Stoker does not know", *kind);
  }
  header.kind = static_cast<Kind>(*kind);
  header.length = page_number(*length);
  header.stored_length = page_number(*stored_length);
  if (header.kind != Kind::kIndex && described != header.kind) fail(ErrorKind::kData, "its header is not complete");
  return header;
}

}  // namespace

std::string_view parquet_encoding_name(ParquetEncoding encoding) {
  switch (encoding) {
    case ParquetEncoding::kPlain: return "PLAIN";
    case ParquetEncoding::kPlainDictionary: return "PLAIN_DICTIONARY";
    case ParquetEncoding::kRunLengths: return "RLE";
    case ParquetEncoding::kBitPacked: return "BIT_PACKED";
    case ParquetEncoding::kDelta: return "DELTA_BINARY_PACKED";
    case ParquetEncoding::kDeltaLengths: return "DELTA_LENGTH_BYTE_ARRAY";
    case ParquetEncoding::kDeltaStrings: return "DELTA_BYTE_ARRAY";
    case ParquetEncoding::kDictionary: return "RLE_DICTIONARY";
    case ParquetEncoding::kSplitBytes: return "BYTE_STREAM_SPLIT";
  }
  return "unknown";
}

ParquetPageHeader take_page_header(SequentialReader& chunk) {
  // A header may hold the least and the largest value, which writers shorten.
  constexpr std::size_t kUsualBytes = std::size_t{4} << 10, kHeaderBytesMax = std::size_t{4} << 20;
  for (std::size_t bytes = kUsualBytes;; bytes *= 8) {
    const Bytes seen = chunk.peek(bytes);
    ThriftReader reader(seen);
    try {
      const ParquetPageHeader header = read_header(reader);
      chunk.take(reader.position());
      if (header.stored_length > chunk.left()) {
        fail(ErrorKind::kData, "it has {}, and {} are left of its column chunk", byte_count(header.stored_length),
             chunk.left());
      }
      if (header.length > kBlockBytesMax || header.stored_length > kBlockBytesMax) {
        fail(ErrorKind::kData, "it has {}, and Stoker reads pages of up to {}",
             byte_count(std::max(header.length, header.stored_length)), kBlockBytesMax);
      }
      if (header.level_bytes() < header.repetition_bytes ||
          header.level_bytes() > std::min(header.length, header.stored_length)) {
        fail(ErrorKind::kData, "its levels are longer than the page");
      }
      return header;
    } catch (const Error&) {
      if (!reader.ran_out() || seen.size() < bytes || bytes >= kHeaderBytesMax) throw;
    }
  }
}

void check_page(const ParquetPageHeader& header, Bytes stored) {
  if (!header.crc32 || libdeflate_crc32(0, stored.data(), stored.size()) == *header.crc32) return;
  fail(ErrorKind::kData, "its checksum does not match");
}

BlockCodec block_codec_of(ParquetCodec codec) {
  std::string_view name;
  switch (codec) {
    case ParquetCodec::kUncompressed: return BlockCodec::kStored;
    case ParquetCodec::kSnappy: return BlockCodec::kSnappy;
    case ParquetCodec::kGzip: return BlockCodec::kGzip;
    case ParquetCodec::kZstd: return BlockCodec::kZstd;
    case ParquetCodec::kLz4: return BlockCodec::kLz4;
    case ParquetCodec::kLzo: name = "LZO"; break;
    case ParquetCodec::kBrotli: name = "Brotli"; break;
    case ParquetCodec::kLz4Framed: name = "LZ4 in Hadoop's frames"; break;
  }
  fail(ErrorKind::kData,
       "it is compressed with {}, which Stoker does not read; write the file anew with another codec, such as "
       "`pyarrow.parquet.write_table(pyarrow.parquet.read_table(OLD), NEW, compression='zstd')`",
       name);
}

void require_plausible(BlockCodec codec, std::uint64_t stored_length, std::uint64_t length) {
  if (length / expansion_max(codec) > stored_length) {
    fail(ErrorKind::kData, "its {} cannot become the {} that its header says", byte_count(stored_length),
         byte_count(length));
  }
}

}  // namespace stoker
