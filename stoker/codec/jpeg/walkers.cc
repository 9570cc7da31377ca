#include "stoker/codec/jpeg/walkers.h"

#include <algorithm>

#include "stoker/codec/jpeg/scan_bytes.h"

namespace stoker {
namespace {

constexpr int kSkipsPerLoad = 3, kLoadsPerCheck = 8;
static_assert((kSkipsPerLoad - 1) * kSkipBitsMax + kFirstBits <= 57);
static_assert(kSkipsPerLoad * kLoadsPerCheck * kSymbolBitsMax <= kWalkBits);

// What skips do not know: long symbols, the last one of a block without an end, bits that are none.
[[gnu::noinline]] void pass_symbol(const JpegTables& tables, const std::uint8_t* scan, Walker& walker) {
  const JpegSymbol symbol = tables.decode(walker.phase->table, load_bits(scan, walker.bit));
  const bool dc = walker.phase->table % 2 == 0;
  const std::uint32_t position =
      dc ? 1 : (symbol.to_end ? walker.position | 63 : walker.position) + static_cast<std::uint32_t>(symbol.run) + 1;
  walker.stuck = !symbol.good || position > 64;
  if (walker.stuck) return;
  walker.bit += static_cast<std::uint64_t>(symbol.length);
  walker.position = position % 64;
  if (dc || position == 64) walker.phase = walker.phase->next[1];
  if (position == 64) *walker.starts_end++ = walker.bit;
}

// Walkers whose places are in registers while they walk.
template <int kWalkers>
class Abreast {
 public:
  Abreast(const JpegTables& tables, const std::uint8_t* scan, Walker* const* walkers)
      : tables_(tables), scan_(scan), walkers_(walkers) {
#pragma GCC unroll 4
    for (int i = 0; i < kWalkers; ++i) take(i);
  }

  // Until one is at its stop or stuck: which one.
  [[gnu::always_inline]] int walk() {
    int stopped = -1;
    while (stopped < 0) {
      for (int load = 0; load < kLoadsPerCheck && stopped < 0; ++load) stopped = step_by_step();
      for (int i = 0; i < kWalkers && stopped < 0; ++i) {
        if (bit_[i] >= walkers_[i]->stop) stopped = i;
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kWalkers; ++i) put(i);
    return stopped;
  }

 private:
  void take(int i) {
    const Walker& walker = *walkers_[i];
    bit_[i] = walker.bit;
    position_[i] = walker.position;
    phase_[i] = walker.phase;
    starts_end_[i] = walker.starts_end;
  }
  void put(int i) {
    Walker& walker = *walkers_[i];
    walker.bit = bit_[i];
    walker.position = position_[i];
    walker.phase = phase_[i];
    walker.starts_end = starts_end_[i];
  }

  // As many skips of each as one load of bits is enough for; which one is stuck, or -1.
  [[gnu::always_inline]] int step_by_step() {
#pragma GCC unroll 4
    for (int i = 0; i < kWalkers; ++i) bits_[i] = load_bits(scan_, bit_[i]);
#pragma GCC unroll 3
    for (int step = 0; step < kSkipsPerLoad; ++step) {
#pragma GCC unroll 4
      for (int i = 0; i < kWalkers; ++i) {
        if (!skip(i)) [[unlikely]]
          return i;
      }
    }
    return -1;
  }

  // One look-up's symbols. It does not branch where a block ends, which a processor cannot foretell.
  [[gnu::always_inline]] bool skip(int i) {
    const SkipEntry skip = phase_[i]->skips[bits_[i] >> (64 - kFirstBits)];
    const std::uint32_t moved = position_[i] + skip_positions(skip);
    if (moved > 63) [[unlikely]] {  // the block may end between two symbols
      put(i);
      pass_symbol(tables_, scan_, *walkers_[i]);
      take(i);
      bits_[i] = load_bits(scan_, bit_[i]);
      return !walkers_[i]->stuck;
    }
    bit_[i] += skip_length(skip);
    bits_[i] <<= skip & 63;
    position_[i] = moved & (skip_ends_block(skip) - 1);
    *starts_end_[i] = bit_[i];
    starts_end_[i] += skip_ends_block(skip);
    phase_[i] = phase_[i]->next[skip_ends_table(skip)];
    return true;
  }

  const JpegTables& tables_;
  const std::uint8_t* const scan_;
  Walker* const* const walkers_;
  std::uint64_t bit_[kWalkers], bits_[kWalkers] = {};
  std::uint32_t position_[kWalkers];
  const WalkPhases::Phase* phase_[kWalkers];
  std::uint64_t* starts_end_[kWalkers];
};

template <int kWalkers>
[[gnu::noinline]] int walk_until_one_stops(const JpegTables& tables, const std::uint8_t* scan, Walker* const* walkers) {
  return Abreast<kWalkers>(tables, scan, walkers).walk();
}

}  // namespace

WalkPhases::WalkPhases(const McuGrid& grid, const JpegTables& tables) : tables_(tables) {
  const auto count = static_cast<std::size_t>(2 * grid.blocks);
  for (std::size_t i = 0; i < count; ++i) {
    const int table = 2 * tables.pair_of(grid.component[i / 2]) + static_cast<int>(i % 2);
    phases_[i] = {tables.skips(table), {&phases_[i], &phases_[(i + 1) % count]}, table};
  }
}

void walk_together(const WalkPhases& phases, const std::uint8_t* scan, std::span<Walker* const> walkers) {
  std::array<Walker*, kWalkersMax> walking{};
  std::ranges::copy(walkers, walking.begin());
  auto count = walkers.size();
  while (count > 0) {
    const auto walk = count == 4   ? walk_until_one_stops<4>
                      : count == 3 ? walk_until_one_stops<3>
                      : count == 2 ? walk_until_one_stops<2>
                                   : walk_until_one_stops<1>;
    const int stopped = walk(phases.tables(), scan, walking.data());
    Walker& walker = *walking[static_cast<std::size_t>(stopped)];
    if (walker.stuck && walker.tries > 0) {
      --walker.tries;
      walker.begin((walker.bit / 8 + 1) * 8, phases);
      continue;
    }
    std::copy(walking.begin() + stopped + 1, walking.end(), walking.begin() + stopped);
    --count;
  }
}

}  // namespace stoker
