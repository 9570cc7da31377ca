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

// Until one of the walkers is at its stop or stuck: which one. Their steps do not branch at the ends of blocks, which a
// processor cannot foretell.
template <int kWalkers>
int walk_until_one_stops(const JpegTables& tables, const std::uint8_t* scan, Walker* const* walkers) {
  std::uint64_t bit[kWalkers], bits[kWalkers];
  std::uint32_t position[kWalkers];
  const WalkPhases::Phase* phase[kWalkers];
  std::uint64_t* starts_end[kWalkers];
  const auto take = [&](int i) {
    const Walker& walker = *walkers[i];
    bit[i] = walker.bit;
    position[i] = walker.position;
    phase[i] = walker.phase;
    starts_end[i] = walker.starts_end;
  };
  const auto put = [&](int i) {
    Walker& walker = *walkers[i];
    walker.bit = bit[i];
    walker.position = position[i];
    walker.phase = phase[i];
    walker.starts_end = starts_end[i];
  };
  const auto put_all = [&] {
#pragma GCC unroll 4
    for (int i = 0; i < kWalkers; ++i) put(i);
  };

#pragma GCC unroll 4
  for (int i = 0; i < kWalkers; ++i) take(i);
  for (;;) {
    for (int load = 0; load < kLoadsPerCheck; ++load) {
#pragma GCC unroll 4
      for (int i = 0; i < kWalkers; ++i) bits[i] = load_bits(scan, bit[i]);
#pragma GCC unroll 3
      for (int step = 0; step < kSkipsPerLoad; ++step) {
#pragma GCC unroll 4
        for (int i = 0; i < kWalkers; ++i) {
          const SkipEntry skip = phase[i]->skips[bits[i] >> (64 - kFirstBits)];
          const std::uint32_t moved = position[i] + skip_positions(skip);
          if (moved > 63) [[unlikely]] {  // the block may end between two symbols
            put(i);
            pass_symbol(tables, scan, *walkers[i]);
            take(i);
            if (walkers[i]->stuck) {
              put_all();
              return i;
            }
            if (step + 1 < kSkipsPerLoad) bits[i] = load_bits(scan, bit[i]);
            continue;
          }
          bit[i] += skip_length(skip);
          if (step + 1 < kSkipsPerLoad) bits[i] <<= skip & 63;
          position[i] = moved & (skip_ends_block(skip) - 1);
          *starts_end[i] = bit[i];
          starts_end[i] += skip_ends_block(skip);
          phase[i] = phase[i]->next[skip_ends_table(skip)];
        }
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kWalkers; ++i) {
      if (bit[i] >= walkers[i]->stop) {
        put_all();
        return i;
      }
    }
  }
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
