// Integers as Parquet packs them: runs of equal ones and groups of few bits, for levels and for numbers of a
// dictionary's values; and differences, for numbers and lengths.
#pragma once

#include <cstdint>

#include "stoker/base/bytes.h"

namespace stoker {

/// Bits that a number up to `most` needs.
std::uint32_t bits_for(std::uint32_t most);

/// Encoding RLE: runs, each a varint and then what it counts: of an even one, half of it, how often the next value is
/// repeated; of an odd one, half of it, how many groups of 8 values follow, each value so many bits. Threads: one.
class RunLengthReader {
 public:
  static constexpr std::uint32_t kBitsMax = 32;

  RunLengthReader() = default;
  /// `bits` of a value: at most kBitsMax.
  RunLengthReader(Bytes bytes, std::uint32_t bits) : bytes_(bytes), bits_(bits) {}

  /// Throws kData, as a clause, where the bytes end before the next value.
  std::uint32_t next();
  /// Passes over the values that equal `value`, up to `most` of them, and says how many there were. Throws as next().
  std::uint64_t pass_equal(std::uint32_t value, std::uint64_t most);

 private:
  void begin_run();
  std::uint64_t pass_equal_packed(std::uint32_t value, std::uint64_t most);

  Bytes bytes_;
  std::size_t at_ = 0;
  std::uint32_t bits_ = 0;
  std::uint64_t repeats_ = 0;  // of `value_`, which are still to come
  std::uint32_t value_ = 0;
  std::uint64_t packed_ = 0;  // values that are still to come of the groups that begin at `packed_at_`
  std::size_t packed_at_ = 0;
  std::uint64_t packed_bit_ = 0;
};

/// Encoding DELTA_BINARY_PACKED: a header (how many values a block has, how many parts a block has, how many values
/// there are, and the first), then blocks: the least difference between neighbours, the bits of each part's
/// differences, and what they are above the least. Threads: one.
class DeltaReader {
 public:
  DeltaReader() = default;
  /// Throws kData, as a clause, as next() does.
  explicit DeltaReader(Bytes bytes);

  std::uint64_t count() const { return count_; }
  /// To be called count() times.
  std::int64_t next();
  /// Where the bytes end that hold the values; after the last was taken.
  std::size_t end() const;

 private:
  std::uint64_t varint();
  std::uint64_t zigzag();
  void begin_block();
  void begin_part();

  Bytes bytes_;
  std::size_t at_ = 0;
  std::uint64_t count_ = 0, taken_ = 0;
  std::uint64_t parts_ = 0, part_values_ = 0;
  std::uint64_t value_ = 0, least_ = 0;
  Bytes part_bits_;                 // of the block at hand
  std::uint64_t part_ = 0;          // of it, the next
  std::uint64_t left_of_part_ = 0;  // values
  std::uint32_t bits_ = 0;
  std::size_t part_at_ = 0;
  std::uint64_t bit_ = 0;
};

}  // namespace stoker
