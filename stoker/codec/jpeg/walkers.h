// Several walkers pass over one scan at a time, each over a stretch of its own: one symbol has to wait for the one
// before, but not for those of other stretches.
//
// A walker that begins at any byte takes the bits there for the beginning of an MCU. That is wrong, but Huffman codes
// bring it back: after some tens of bytes it comes upon the beginning of a block that really is one, of the component
// that it expects, and from there on it is right. Where that was, a walker can tell that comes from before.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "stoker/codec/jpeg/huffman_tables.h"
#include "stoker/codec/jpeg/segment_layout.h"

namespace stoker {

/// Which tables the symbols of an MCU take in turn: each block's DC table, and its AC table until the block ends.
class WalkPhases {
 public:
  struct Phase {
    const SkipEntry* skips;
    const Phase* next[2];  // the same again, and the next one; after an MCU's last its first
    int table;             // of JpegTables
  };

  WalkPhases(const McuGrid& grid, const JpegTables& tables);
  WalkPhases(const WalkPhases&) = delete;  // phases point to each other
  WalkPhases& operator=(const WalkPhases&) = delete;

  const Phase* first() const { return phases_.data(); }
  const JpegTables& tables() const { return tables_; }

 private:
  const JpegTables& tables_;
  std::array<Phase, std::size_t{2} * kMcuBlocksMax> phases_{};
};

/// Where a walker is, and what it has passed.
struct Walker {
  std::uint64_t bit = 0;       // the next one
  std::uint64_t stop = 0;      // the walker stops soon after this one: within kWalkBits
  std::uint32_t position = 0;  // of the next coefficient in its block
  bool stuck = false;          // the next bits are no symbol, or one that leaves its block
  int tries = 0;               // so often it may begin again at the next byte where it is stuck
  const WalkPhases::Phase* phase = nullptr;
  std::uint64_t* starts = nullptr;  // the first bit of each block; there is room for walk_starts_max()
  std::uint64_t* starts_end = nullptr;

  /// Begins an MCU at `first`.
  void begin(std::uint64_t first, const WalkPhases& phases) {
    bit = first;
    position = 0;
    stuck = false;
    phase = phases.first();
    starts_end = starts;
    *starts_end++ = first;
  }
  void go_on_as(const Walker& other) {
    bit = other.bit;
    position = other.position;
    phase = other.phase;
    starts_end = starts;
  }
};

/// So many bits a walker goes beyond its stop at most.
constexpr std::uint64_t kWalkBits = 1024;

/// Blocks that may begin within so many bits, and in those that a walker goes beyond: each has two symbols or more.
constexpr std::size_t walk_starts_max(std::uint64_t bits) { return static_cast<std::size_t>(bits + kWalkBits) / 2 + 2; }

constexpr int kWalkersMax = 4;

/// Lets the walkers go to their stops, or as far as they come. Not more than kWalkersMax.
void walk_together(const WalkPhases& phases, const std::uint8_t* scan, std::span<Walker* const> walkers);

}  // namespace stoker
