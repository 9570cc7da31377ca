// Values of one width that do not stand one after another in their block: numbers of a dictionary's values,
// differences, or values whose bytes stand apart. Parquet's encodings of numbers. Readers see plain values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/base/bytes.h"
#include "stoker/storage/block_codec.h"

namespace stoker {

struct PackedValues {
  /// The numbers are those of the index.
  enum class Coding : std::uint8_t {
    kNamed =
        0,  // a byte: how many bits a number has; then numbers of values of the dictionary, as RunLengthReader reads
    kDeltas = 1,  // as DeltaReader reads
    kSplit = 2,   // the first bytes of all values, then their second bytes, and so on
  };

  CompressedBlock block{};    // that holds them; it may be one that is stored as it is
  std::uint64_t skipped = 0;  // bytes of the block before them, once decompressed
  std::uint64_t count = 0;
  std::uint32_t width = 0;  // bytes of a value
  Coding coding = Coding::kNamed;
  std::size_t dictionary = 0;  // of kNamed: which block of the table has the values, one after another

  bool has_dictionary() const { return coding == Coding::kNamed; }
  bool operator==(const PackedValues&) const = default;
};

inline constexpr std::uint8_t kPackedCodings = 3;

/// Fills `into` with the values, of which there are as many as it has room for. `block` and `dictionary` are
/// decompressed. Throws kData, as a reason ("it ends before its last value"), if they do not hold them.
void unpack_values(const PackedValues& packed, Bytes block, Bytes dictionary, MutableBytes into);

}  // namespace stoker
