// The blocks of a data set's indexes that were read last, up to a limit in bytes: a data set of any size takes no more
// memory than that.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "stoker/format/index/index_block.h"

namespace stoker {

/// A block in memory. Its bytes keep their capacity when it is used again.
struct LoadedBlock {
  std::vector<std::uint8_t> bytes;
  IndexBlock block;  // a view of `bytes`
};

/// Threads: any.
class IndexCache {
 public:
  explicit IndexCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// Makes room for the numbers of an index's blocks; returns the number of the index.
  int add_index(std::int64_t blocks);

  bool holds(int index, std::int64_t block) const;
  /// Reads one row if its block is held.
  bool read(int index, std::int64_t block, std::int64_t row, std::span<const std::string> names, SampleRow& into);
  void insert(int index, std::int64_t block, LoadedBlock loaded);
  /// An empty block to load into, with memory that is no longer needed if there is any.
  LoadedBlock spare();

 private:
  struct Slot {
    int index = -1;  // -1: free
    std::int64_t block = 0;
    LoadedBlock loaded{};
    bool recent = false;  // read since the hand passed last
  };

  std::int32_t& slot_of(int index, std::int64_t block) {
    return slots_of_[static_cast<std::size_t>(index)][static_cast<std::size_t>(block)];
  }
  void evict_one();

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;
  std::vector<std::vector<std::int32_t>> slots_of_;  // by index and block; -1: not held
  std::vector<Slot> slots_;
  std::vector<std::size_t> free_;  // of the slots; what was freed last is used first
  std::vector<LoadedBlock> spares_;
  std::size_t bytes_ = 0;
  std::size_t hand_ = 0;  // of the clock that goes round the slots to find one not read lately
};

}  // namespace stoker
