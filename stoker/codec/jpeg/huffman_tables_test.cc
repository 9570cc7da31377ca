// Look-ups against a decoder that goes bit by bit.
#include "stoker/codec/jpeg/huffman_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "stoker/base/noise_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/jpeg/coded_jpeg_testing.h"

namespace stoker {
namespace {

// What ITU-T T.81 says (figures F.12 to F.16).
JpegSymbol decode_bit_by_bit(const HuffmanCode& code, bool dc, std::uint64_t bits) {
  const auto bit = [bits](int number) { return static_cast<int>(bits >> (63 - number) & 1); };
  int value = 0, smallest = 0, before = 0, length = 0, symbol = -1;
  while (symbol < 0) {
    if (length == 16) return {};
    value = 2 * value + bit(length);
    smallest = 2 * smallest;
    const int count = code.counts[static_cast<std::size_t>(length)];
    ++length;
    if (value < smallest + count) symbol = code.symbols[static_cast<std::size_t>(before + value - smallest)];
    smallest += count;
    before += count;
  }
  const int size = dc ? symbol : symbol & 15;
  int coefficient = 0;
  for (int i = 0; i < size; ++i) coefficient = 2 * coefficient + bit(length + i);
  if (size > 0 && bit(length) == 0) coefficient -= (1 << size) - 1;
  const bool to_end = !dc && size == 0 && symbol != 0xF0;
  return {.good = true,
          .length = length + size,
          .run = dc || to_end ? 0 : symbol >> 4,
          .to_end = to_end,
          .value = coefficient};
}

// A code of any lengths, of up to `count` of the symbols below `symbols_end`, `shortest` bits at least. There may be
// bits that begin no code.
HuffmanCode any_code(Noise& noise, int count, int symbols_end, int shortest) {
  HuffmanCode code;
  int room = 1, left = std::min(count, symbols_end);
  for (int length = 1; length <= 16; ++length) {
    room *= 2;
    if (length < shortest) continue;
    const int most = std::min({room - 1, left, 255});
    const int here = length == 16 || noise.between(0, 7) == 0 ? most : noise.between(0, std::min(most, 1 + room / 4));
    code.counts[static_cast<std::size_t>(length - 1)] = static_cast<std::uint8_t>(here);
    room -= here;
    left -= here;
  }
  std::vector<std::uint8_t> symbols(static_cast<std::size_t>(symbols_end));
  std::iota(symbols.begin(), symbols.end(), std::uint8_t{0});
  for (std::size_t i = symbols.size(); i-- > 1;) std::swap(symbols[i], symbols[noise.next() % (i + 1)]);
  std::copy_n(symbols.begin(), code.size(), code.symbols.begin());
  return code;
}

// All codes are of `length` bits; where there are more of them than symbols, these come again.
HuffmanCode code_of_length(int length, int count, int symbols_end) {
  HuffmanCode code;
  code.counts[static_cast<std::size_t>(length - 1)] = static_cast<std::uint8_t>(count);
  for (int i = 0; i < count; ++i) {
    code.symbols[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(symbols_end - 1 - i % symbols_end);
  }
  return code;
}

// Each component with its own pair of codes.
JpegHeader header_of(const HuffmanCode (&codes)[6]) {
  JpegHeader header;
  header.component_count = 3;
  for (std::size_t c = 0; c < 3; ++c) {
    header.components[c].dc_code = header.components[c].ac_code = static_cast<int>(c);
    header.dc_codes[c] = codes[2 * c];
    header.ac_codes[c] = codes[2 * c + 1];
  }
  return header;
}

std::uint64_t any_bits(Noise& noise) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits = bits << 8 | noise.byte();
  switch (noise.between(0, 7)) {
    case 0: return bits >> noise.between(1, 40);
    case 1: return ~(bits >> noise.between(1, 40));
    default: return bits;
  }
}

// What a decoder makes of these bits, as it does: by a first or a second look-up, else bit by bit.
JpegSymbol look_up_whole(const JpegTables& tables, int table, std::uint64_t bits) {
  const HuffmanEntry entry =
      look_up(tables.entries(), static_cast<std::uint32_t>(table) * JpegTables::kTableSize, bits);
  if (entry & kSpecialEntry) return tables.decode_rare(table, bits);
  EXPECT_LE(entry_length(entry), static_cast<std::uint32_t>(kSymbolBitsMax));
  EXPECT_TRUE(entry_to_end(entry) == 0 || entry_to_end(entry) == 63);
  return {.good = true,
          .length = static_cast<int>(entry_length(entry)),
          .run = static_cast<int>(entry_run(entry)),
          .to_end = entry_to_end(entry) != 0,
          .value = value_of(entry, bits)};
}

std::string text_of(const JpegSymbol& symbol) {
  if (!symbol.good) return "no symbol";
  return "length " + std::to_string(symbol.length) + ", run " + std::to_string(symbol.run) +
         (symbol.to_end ? " to the end" : "") + ", value " + std::to_string(symbol.value);
}

void expect_right_look_ups(const JpegTables& tables, const HuffmanCode (&codes)[6], Noise& noise, int tries) {
  for (int table = 0; table < 6; ++table) {
    for (int i = 0; i < tries; ++i) {
      std::uint64_t bits = any_bits(noise);
      if (i < 1 << 16) bits = bits >> 16 | static_cast<std::uint64_t>(i * 40503 & 0xFFFF) << 48;  // all beginnings
      const JpegSymbol want = decode_bit_by_bit(codes[table], table % 2 == 0, bits);
      ASSERT_EQ(text_of(look_up_whole(tables, table, bits)), text_of(want)) << "table " << table << ", bits " << bits;
      ASSERT_EQ(text_of(tables.decode_rare(table, bits)), text_of(want)) << "table " << table << ", bits " << bits;
    }
  }
}

// A skip is some symbols of a block, or of a DC table one.
void expect_right_skips(const JpegTables& tables, const HuffmanCode (&codes)[6], Noise& noise) {
  for (int table = 0; table < 6; ++table) {
    for (std::uint64_t index = 0; index < JpegTables::kTableSize; ++index) {
      const SkipEntry skip = tables.skips(table)[index];
      if (skip == kNoSkip) continue;
      ASSERT_LE(skip_length(skip), static_cast<std::uint32_t>(kSkipBitsMax));
      const std::uint64_t bits = index << (64 - kFirstBits) | any_bits(noise) >> kFirstBits;
      std::uint32_t length = 0, positions = 0;
      bool ends = false;
      while (length < skip_length(skip)) {
        ASSERT_FALSE(ends);
        const JpegSymbol symbol = decode_bit_by_bit(codes[table], table % 2 == 0, bits << length);
        ASSERT_TRUE(symbol.good);
        length += static_cast<std::uint32_t>(symbol.length);
        if (!symbol.to_end) positions += static_cast<std::uint32_t>(symbol.run) + 1;
        ends = symbol.to_end || table % 2 == 0;
      }
      ASSERT_EQ(skip_length(skip), length);
      ASSERT_EQ(skip_positions(skip), positions);
      ASSERT_LT(positions, 64U);
      ASSERT_EQ(skip_ends_block(skip), ends && table % 2 == 1 ? 1U : 0U);
      ASSERT_EQ(skip_ends_table(skip), ends ? 1U : 0U);
    }
  }
}

TEST(JpegTables, LookUpWhatBitsMean) {
  JpegTables tables;  // kept, as decoders keep them
  for (int round = 0; round < rounds(60); ++round) {
    Noise noise(static_cast<std::uint32_t>(round));
    HuffmanCode codes[6];
    for (int i = 0; i < 6; ++i) {
      const int shortest = round % 4 == 0 ? noise.between(9, 13) : 1;
      codes[i] = any_code(noise, noise.between(1, 256), i % 2 ? 256 : 16, shortest);
    }
    tables.build(header_of(codes));
    tables.build_skips();
    expect_right_look_ups(tables, codes, noise, 2000);
    expect_right_skips(tables, codes, noise);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(JpegTables, KnowCodesOfEveryLengthWithEveryValue) {
  for (int length = 5; length <= 16; ++length) {
    const int most = std::min((1 << length) - 1, 255);
    HuffmanCode codes[6];
    for (int i = 0; i < 6; ++i) codes[i] = code_of_length(length, i % 2 ? most : 16, i % 2 ? 256 : 16);
    JpegTables tables;
    tables.build(header_of(codes));
    tables.build_skips();
    Noise noise(static_cast<std::uint32_t>(length));
    expect_right_look_ups(tables, codes, noise, 1 << 14);
    expect_right_skips(tables, codes, noise);
  }
}

// Codes of 11 bits need a second look-up each, for the sign: with DC codes that say the same again and again these are
// more than there are second tables.
TEST(JpegTables, DecodeBitByBitWhereThereIsNoRoomForSecondLookUps) {
  HuffmanCode codes[6];
  for (int i = 0; i < 6; ++i) codes[i] = code_of_length(kFirstBits, 255, i % 2 ? 256 : 16);
  JpegTables tables;
  tables.build(header_of(codes));
  const HuffmanEntry* const last = tables.entries() + 5 * JpegTables::kTableSize;
  const auto without = std::count(last, last + JpegTables::kTableSize, kSpecialEntry);
  EXPECT_GT(without, static_cast<std::ptrdiff_t>(JpegTables::kTableSize - 255));  // no code at all begins the others
  Noise noise(1);
  expect_right_look_ups(tables, codes, noise, 1 << 16);
}

TEST(JpegTables, PassOverAsManySymbolsAsFit) {
  HuffmanCode code;  // of one bit: the end of a block; of two: a value of one bit
  code.counts[0] = code.counts[1] = 1;
  code.symbols[1] = 1;
  HuffmanCode codes[6];
  for (int i = 0; i < 6; ++i) codes[i] = i % 2 ? code : code_of_length(5, 16, 16);
  JpegTables tables;
  tables.build(header_of(codes));
  tables.build_skips();
  const SkipEntry values = tables.skips(1)[0b10'1'10'0'10'1'10], value_and_end = tables.skips(1)[0b10'1'0'0000000];
  EXPECT_EQ(skip_length(values), 12U);  // the last value's bit is not in the index
  EXPECT_EQ(skip_positions(values), 4U);
  EXPECT_EQ(skip_ends_block(values), 0U);
  EXPECT_EQ(skip_length(value_and_end), 4U);
  EXPECT_EQ(skip_positions(value_and_end), 1U);
  EXPECT_EQ(skip_ends_block(value_and_end), 1U);
}

// Tables are kept from image to image: whatever came before, they are those of the image.
TEST(JpegTables, AreThoseOfTheLastImage) {
  Noise noise(7);
  HuffmanCode some[6], others[6];
  for (int i = 0; i < 6; ++i) {
    some[i] = any_code(noise, 100, i % 2 ? 256 : 16, 1);
    others[i] = any_code(noise, 200, i % 2 ? 256 : 16, 9);
  }
  JpegTables tables;
  for (int round = 0; round < 6; ++round) {
    const auto& codes = round % 2 ? some : others;
    tables.build(header_of(codes));
    if (round < 3) tables.build_skips();
    tables.build(header_of(codes));
    tables.build_skips();
    expect_right_look_ups(tables, codes, noise, 500);
    expect_right_skips(tables, codes, noise);
  }
  JpegHeader shared = header_of(some);
  shared.components[2].dc_code = shared.components[2].ac_code = 1;
  tables.build(shared);
  EXPECT_EQ(tables.pair_of(0), 0);
  EXPECT_EQ(tables.pair_of(1), 1);
  EXPECT_EQ(tables.pair_of(2), 1);
}

}  // namespace
}  // namespace stoker
