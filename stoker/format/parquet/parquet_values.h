// The values of a page, without nulls: where each lies in the page's decompressed bytes, or in those of the dictionary.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/format/parquet/parquet_footer.h"
#include "stoker/format/parquet/parquet_page.h"
#include "stoker/storage/packed_integers.h"
#include "stoker/storage/packed_values.h"

namespace stoker {

struct ParquetValue {
  /// kNowhere: the encoding does not keep the value's bytes. kPacked: in what the page's values become when they are
  /// unpacked.
  enum class Place : std::uint8_t { kNowhere, kPage, kDictionary, kPacked };

  Place place = Place::kNowhere;
  std::uint64_t begin = 0;  // in there
  Bytes bytes{};            // the value: as long as the page or the dictionary; until the next one if packed
  std::optional<std::int64_t> integer{};  // of integers and booleans; below 0 of a u64 that is larger than any i64
};

/// The values of a column chunk that its data pages name by number.
class ParquetDictionary {
 public:
  /// `bytes` must outlive it. Throws kData, as a clause, unless they have so many values. Some writers leave bytes
  /// after the last one, which mean nothing.
  ParquetDictionary(const ParquetColumn& column, const ParquetPageHeader& header, Bytes bytes);

  /// Throws kData for a number that no value has.
  ParquetValue value(std::uint32_t number) const;

 private:
  Bytes bytes_;
  std::uint32_t width_;
  bool is_integer_, is_unsigned_;
  std::uint32_t count_;
  std::vector<std::uint32_t> ends_;  // of byte arrays
};

/// Threads: one.
class ParquetValues {
 public:
  ParquetValues() = default;
  /// `bytes` are what follows the levels, for up to `count` values. The dictionary (null: there is none) and they must
  /// outlive the object. Throws kData, as a clause, for an encoding that does not fit the column or is not known.
  ParquetValues(const ParquetColumn& column, ParquetEncoding encoding, Bytes bytes, std::uint32_t count,
                const ParquetDictionary* dictionary);

  /// How they are packed, where their place is kPacked.
  std::optional<PackedValues::Coding> coding() const { return coding_; }
  /// Throws kData, as a clause, where the bytes end before the value does.
  ParquetValue next();
  /// Of values of one width: passes over so many without a look at what they are. Throws as next() does, or
  /// unpack_values() later.
  void pass(std::uint64_t count);
  /// Where the next value begins: in the page, or among the unpacked ones.
  std::uint64_t position() const { return coding_ ? unpacked_ * width_ : at_; }

 private:
  enum class Kind : std::uint8_t {
    kNone,
    kFixed,
    kByteArrays,
    kBits,
    kRuns,
    kDictionary,
    kDeltas,
    kLengths,
    kSplit,
    kElsewhere
  };

  void begin_lengths(std::uint32_t count);
  ParquetValue next_array();
  /// The next, with the bytes of which it was packed.
  ParquetValue unpacked(Bytes bytes);

  Kind kind_ = Kind::kNone;
  Bytes bytes_;
  std::size_t at_ = 0;  // where the next value begins
  std::uint32_t width_ = 0;
  bool is_integer_ = false, is_unsigned_ = false;
  std::optional<PackedValues::Coding> coding_;
  std::uint64_t unpacked_ = 0;        // values
  std::vector<std::uint8_t> memory_;  // of the last
  std::uint64_t bit_ = 0;
  const ParquetDictionary* dictionary_ = nullptr;
  RunLengthReader runs_;
  DeltaReader deltas_;
  std::uint64_t deltas_left_ = 0;
};

}  // namespace stoker
