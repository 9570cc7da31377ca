#include "stoker/codec/jpeg/huffman_tables.h"

#include <algorithm>

namespace stoker {
namespace {

constexpr int kCodeBitsMax = 16;
constexpr int kIndexBits = kFirstBits + kSecondBits;  // the longest code and a sign

struct Meaning {
  int run = 0;
  int value_bits = 0;
  bool to_end = false;
};

// In a DC table a symbol is a number of bits. In an AC table its upper half is a run of zeros, and without bits it is a
// run of 16 or, whatever its upper half says otherwise, the end of the block.
Meaning meaning_of(int table, int symbol) {
  if (table % 2 == 0) return {.run = 0, .value_bits = symbol, .to_end = false};
  const int run = symbol >> 4, value_bits = symbol & 15;
  if (value_bits == 0 && run != 15) return {.run = 0, .value_bits = 0, .to_end = true};
  return {.run = run, .value_bits = value_bits, .to_end = false};
}

// Added to the bits of code and value it leaves the value. Values whose first bit is 0 are negative, and count down.
std::uint32_t bias_of(std::uint32_t code, int value_bits, bool negative) {
  const std::uint32_t below = negative ? 1 - (1U << value_bits) : 0;
  return below - (code << value_bits);
}

HuffmanEntry entry_of(std::uint32_t code, int length, const Meaning& meaning, bool negative) {
  return static_cast<HuffmanEntry>(length + meaning.value_bits) | static_cast<HuffmanEntry>(meaning.run) << 6 |
         (meaning.to_end ? 63U << 10 : 0) | bias_of(code, meaning.value_bits, negative) << 16;
}

}  // namespace

JpegTables::JpegTables()
    : entries_(std::make_unique<HuffmanEntry[]>(kSecondsBegin + kSecondsMax * kSecondSize)),
      code_lengths_(std::make_unique<std::uint8_t[]>(kSecondsBegin)),
      skips_(std::make_unique<SkipEntry[]>(kSecondsBegin)) {}

void JpegTables::build(const JpegHeader& header) {
  int pairs = 0;
  std::array<const HuffmanCode*, 2 * kPairsMax> wanted{};
  for (int c = 0; c < header.component_count; ++c) {
    const JpegComponent& component = header.components[static_cast<std::size_t>(c)];
    const HuffmanCode* const dc = &header.dc_codes[static_cast<std::size_t>(component.dc_code)];
    const HuffmanCode* const ac = &header.ac_codes[static_cast<std::size_t>(component.ac_code)];
    int pair = 0;
    while (pair < pairs && (wanted[2 * pair] != dc || wanted[2 * pair + 1] != ac)) ++pair;
    if (pair == pairs) {
      wanted[2 * pair] = dc;
      wanted[2 * pair + 1] = ac;
      ++pairs;
    }
    pair_of_[static_cast<std::size_t>(c)] = pair;
  }
  const auto is_there = [&](int table) { return built_[table] && codes_[table] == *wanted[table]; };
  bool all_there = true;
  for (int table = 0; table < 2 * pairs; ++table) all_there = all_there && is_there(table);
  if (all_there) return;
  seconds_ = 0;  // they are shared: all tables are made anew
  built_.fill(false);
  skips_built_.fill(false);
  for (int table = 0; table < 2 * pairs; ++table) build_table(table, *wanted[table]);
}

void JpegTables::build_table(int table, const HuffmanCode& code) {
  codes_[table] = code;
  built_[table] = true;
  HuffmanEntry* const first = entries_.get() + static_cast<std::uint32_t>(table) * kTableSize;
  std::fill_n(first, kTableSize, kSpecialEntry);
  std::fill_n(code_lengths_.get() + static_cast<std::uint32_t>(table) * kTableSize, kTableSize, std::uint8_t{0});
  std::uint32_t next = 0;
  int symbol = 0;
  Lengths& lengths = lengths_[static_cast<std::size_t>(table)];
  for (int length = 1; length <= kCodeBitsMax; ++length, next <<= 1) {
    const auto i = static_cast<std::size_t>(length - 1);
    lengths.first_symbols[i] = symbol - static_cast<int>(next);
    for (int left = code.counts[i]; left > 0; --left) {
      place(table, next++, length, code.symbols[static_cast<std::size_t>(symbol++)]);
    }
    lengths.limits[i] = static_cast<std::uint16_t>(next << (kCodeBitsMax - length));
  }
}

// Writes one code's entries: those whose index begins with the code, in two halves by the sign that follows.
void JpegTables::place(int table, std::uint32_t code, int length, int symbol) {
  const Meaning meaning = meaning_of(table, symbol);
  if (length + meaning.value_bits > kSymbolBitsMax) return;
  const int index_bits = length + (meaning.value_bits > 0 ? 1 : 0);
  HuffmanEntry* const first = entries_.get() + static_cast<std::uint32_t>(table) * kTableSize;
  const HuffmanEntry positive = entry_of(code, length, meaning, false);
  const HuffmanEntry negative = meaning.value_bits > 0 ? entry_of(code, length, meaning, true) : positive;
  const auto fill = [&](HuffmanEntry* begin, int free_bits) {
    const std::uint32_t half = (1U << free_bits) / 2;
    if (half == 0) {
      *begin = positive;
      return;
    }
    std::fill_n(begin, half, negative);
    std::fill_n(begin + half, half, positive);
  };
  if (index_bits <= kFirstBits) {
    const std::uint32_t begin = code << (kFirstBits - length), count = 1U << (kFirstBits - length);
    std::fill_n(code_lengths_.get() + static_cast<std::uint32_t>(table) * kTableSize + begin, count,
                static_cast<std::uint8_t>(length));
    return fill(first + begin, kFirstBits - length);
  }
  // The code's indices of kIndexBits lie in one or (if the sign is the twelfth bit) in two of the second tables.
  const int free_bits = kIndexBits - length;
  const std::uint32_t index = code << free_bits;
  const std::uint32_t second = second_of(first[index >> kSecondBits]);
  if (second == 0) return;
  fill(entries_.get() + second + (index & (kSecondSize - 1)), free_bits);
}

// The second table that the first one's entry leads to, made if there is none; 0 if there is no more room.
std::uint32_t JpegTables::second_of(HuffmanEntry& first) {
  if (first != kSpecialEntry) return first >> 16;
  if (seconds_ == kSecondsMax) return 0;
  const std::uint32_t second = kSecondsBegin + seconds_++ * kSecondSize;
  std::fill_n(entries_.get() + second, kSecondSize, kSpecialEntry);
  first = second << 16 | kSpecialEntry;
  return second;
}

void JpegTables::build_skips() {
  for (int table = 0; table < 2 * kPairsMax; ++table) {
    if (built_[table] && !skips_built_[table]) build_skips_of(table);
  }
}

// After the first symbol another one counts if all of its code is among the bits that are left; its value may lie
// beyond.
void JpegTables::build_skips_of(int table) {
  skips_built_[table] = true;
  const bool dc = table % 2 == 0;
  const std::uint32_t begin = static_cast<std::uint32_t>(table) * kTableSize;
  const HuffmanEntry* const entries = entries_.get() + begin;
  const std::uint8_t* const code_lengths = code_lengths_.get() + begin;
  for (std::uint32_t bits = 0; bits < kTableSize; ++bits) {
    std::uint32_t length = 0, positions = 0;
    SkipEntry ends = 0;
    while (length < kFirstBits && ends == 0) {
      const std::uint32_t next = bits << length & (kTableSize - 1);
      const HuffmanEntry entry = entries[next];
      const std::uint32_t moved = entry_to_end(entry) != 0 ? 0 : entry_run(entry) + 1;
      const bool all_there =
          length == 0 ? !(entry & kSpecialEntry) : code_lengths[next] != 0 && code_lengths[next] <= kFirstBits - length;
      if (!all_there || length + entry_length(entry) > kSkipBitsMax || positions + moved > 63) break;
      length += entry_length(entry);
      positions += moved;
      if (entry_to_end(entry) != 0) ends = kSkipEndsBlock | kSkipEndsTable;
      if (dc) ends = kSkipEndsTable;
    }
    skips_[begin + bits] = length == 0 ? kNoSkip : length | ends | positions << 24;
  }
}

JpegSymbol JpegTables::decode_rare(int table, std::uint64_t bits) const {
  const Lengths& lengths = lengths_[static_cast<std::size_t>(table)];
  const auto beginning = static_cast<std::uint16_t>(bits >> (64 - kCodeBitsMax));
  std::size_t shorter = 0;
  for (const std::uint16_t limit : lengths.limits) shorter += beginning >= limit ? 1 : 0;
  if (shorter == kCodeBitsMax) return {};
  const int length = static_cast<int>(shorter) + 1;
  const int symbol = lengths.first_symbols[shorter] + (beginning >> (kCodeBitsMax - length));
  const Meaning meaning =
      meaning_of(table, codes_[static_cast<std::size_t>(table)].symbols[static_cast<std::size_t>(symbol)]);
  JpegSymbol result{
      .good = true, .length = length + meaning.value_bits, .run = meaning.run, .to_end = meaning.to_end, .value = 0};
  if (meaning.value_bits > 0) {
    const int raw = static_cast<int>(bits << length >> (64 - meaning.value_bits));
    const bool negative = raw < 1 << (meaning.value_bits - 1);
    result.value = raw + (negative ? 1 - (1 << meaning.value_bits) : 0);
  }
  return result;
}

}  // namespace stoker
