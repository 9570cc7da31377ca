// Look-up tables that turn the next bits of a scan into a symbol and its value in one step, for every decoder of
// segments.
//
// A symbol of a JPEG scan is a code followed by the bits of a value: the code says how many zeros come before the value
// and how many bits it has. Decoders keep one position q that runs through all coefficients of a segment, 64 a block,
// and at each symbol do
//   q = (position | e.to_end) + e.run;  coefficient[q] = (next e.length bits) + e.bias;  position = q + 1
// for DC, AC and end-of-block alike: the end of a block jumps to its last coefficient and writes a zero there, and the
// sign of a value lies in e.bias, since the value's first bit is part of the index.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "stoker/codec/jpeg/header.h"

namespace stoker {

/// Fields of an entry, from the lowest bit:
///   0..4 length of code and value in bits; 5 special; 6..9 run; 10..15 to_end: 63 at the end of a block, else 0;
///   16..31 bias, which is added to the bits of code and value (modulo 2^16).
/// Special ones have length 0: the bits need a second look-up, at the entry whose number is in 16..31; or if that is 0,
/// they are not a code, or one of a rare length, and JpegTables::decode_rare knows.
using HuffmanEntry = std::uint32_t;

constexpr HuffmanEntry kSpecialEntry = 1U << 5;
constexpr std::uint32_t entry_length(HuffmanEntry entry) { return entry & 31; }
constexpr std::uint32_t entry_run(HuffmanEntry entry) { return entry >> 6 & 15; }
constexpr std::uint32_t entry_to_end(HuffmanEntry entry) { return entry >> 10 & 63; }
constexpr std::uint32_t entry_bias(HuffmanEntry entry) { return entry >> 16; }

/// The first look-up takes this many bits, both together the longest code and a sign.
constexpr int kFirstBits = 11, kSecondBits = 6;
/// Longer symbols, code and value together, are rare ones.
constexpr int kSymbolBitsMax = 31;

/// The entry for the next bits, of which there are 17 at least; `begin` is where its table begins among all entries.
inline HuffmanEntry look_up(const HuffmanEntry* entries, std::uint32_t begin, std::uint64_t bits) {
  const HuffmanEntry entry = entries[begin + (bits >> (64 - kFirstBits))];
  if (!(entry & kSpecialEntry) || entry_bias(entry) == 0) [[likely]]
    return entry;
  return entries[entry_bias(entry) + (bits << kFirstBits >> (64 - kSecondBits))];
}

/// The value of a symbol whose entry is not special.
inline std::int16_t value_of(HuffmanEntry entry, std::uint64_t bits) {
  return static_cast<std::int16_t>((bits >> 1 >> (63 - entry_length(entry))) + entry_bias(entry));
}

/// Symbols that are only passed over: of an AC table as many as fit into the bits of the index and belong to one block,
/// of a DC table one. Fields from the lowest bit: 0..7 their length in bits, at most kSkipBitsMax; 8 the last one ends
/// the block; 9 the next symbol is one of another table; 24..31 by how much they move the position on: 64 if symbols
/// have to be looked at one by one.
using SkipEntry = std::uint32_t;

constexpr std::uint32_t skip_length(SkipEntry entry) { return entry & 255; }
constexpr std::uint32_t skip_ends_block(SkipEntry entry) { return entry >> 8 & 1; }
constexpr std::uint32_t skip_ends_table(SkipEntry entry) { return entry >> 9 & 1; }
constexpr std::uint32_t skip_positions(SkipEntry entry) { return entry >> 24; }
constexpr SkipEntry kSkipEndsBlock = 1U << 8, kSkipEndsTable = 1U << 9, kNoSkip = 64U << 24;
/// Of 57 or more bits that were loaded at once, kFirstBits are left after two of these.
constexpr int kSkipBitsMax = 22;

/// A symbol by itself.
struct JpegSymbol {
  bool good = false;  // else no code begins with these bits
  int length = 0;
  int run = 0;
  bool to_end = false;
  int value = 0;
};

/// The tables of one scan: pairs of a DC and an AC table, each component using one of the pairs.
class JpegTables {
 public:
  static constexpr int kPairsMax = 3;
  static constexpr std::uint32_t kTableSize = 1U << kFirstBits;

  JpegTables();

  /// Makes the tables of a scan, unless they are there already. Allocates nothing.
  void build(const JpegHeader& header);

  /// All tables one after another: of pair p, the DC table begins at 2 p kTableSize, the AC table after it.
  const HuffmanEntry* entries() const { return entries_.get(); }
  /// Which pair a component uses.
  int pair_of(int component) const { return pair_of_[static_cast<std::size_t>(component)]; }

  /// Makes the tables for passing over the scan, unless they are there.
  void build_skips();
  /// By the next kFirstBits bits; `table` is 2 p or 2 p + 1.
  const SkipEntry* skips(int table) const { return skips_.get() + static_cast<std::uint32_t>(table) * kTableSize; }

  /// `bits` holds the next 64 bits, `table` is 2 p or 2 p + 1.
  JpegSymbol decode_rare(int table, std::uint64_t bits) const;
  /// The same, quickly for symbols that are not rare.
  JpegSymbol decode(int table, std::uint64_t bits) const {
    const HuffmanEntry entry = look_up(entries(), static_cast<std::uint32_t>(table) * kTableSize, bits);
    if (entry & kSpecialEntry) [[unlikely]]
      return decode_rare(table, bits);
    return {.good = true,
            .length = static_cast<int>(entry_length(entry)),
            .run = static_cast<int>(entry_run(entry)),
            .to_end = entry_to_end(entry) != 0,
            .value = value_of(entry, bits)};
  }

 private:
  // Room for second look-ups: real files take a few; a code takes one at most. Where a DC table has many codes of the
  // same meaning they may find no room, and are rare ones.
  static constexpr std::uint32_t kSecondSize = 1U << kSecondBits, kSecondsMax = kPairsMax * (256 + 16);
  static constexpr std::uint32_t kSecondsBegin = 2 * kPairsMax * kTableSize;
  static_assert(kSecondsBegin + kSecondsMax * kSecondSize <= 1U << 16, "entries have 16 bits for where one begins");

  void build_table(int table, const HuffmanCode& code);
  void build_skips_of(int table);
  void place(int table, std::uint32_t code, int length, int symbol);
  std::uint32_t second_of(HuffmanEntry& first);

  std::unique_ptr<HuffmanEntry[]> entries_;
  std::unique_ptr<std::uint8_t[]> code_lengths_;  // by the first kFirstBits bits; 0 where their entry is special
  std::unique_ptr<SkipEntry[]> skips_;
  std::array<bool, 2 * kPairsMax> skips_built_{};
  std::uint32_t seconds_ = 0;  // in use
  std::array<HuffmanCode, 2 * kPairsMax> codes_;
  // What decode_rare needs of a code, by the number of bits less one.
  struct Lengths {
    std::array<std::uint16_t, 16> limits{};  // 16 bits from here on begin longer codes
    std::array<int, 16> first_symbols{};     // less the first code
  };
  std::array<Lengths, 2 * kPairsMax> lengths_;
  std::array<bool, 2 * kPairsMax> built_{};
  std::array<int, 3> pair_of_{};
};

}  // namespace stoker
