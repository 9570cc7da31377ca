// Code that host and device both run. Device code is written once, as functions of a block and a thread, so that the
// host can run the same grid and a test can compare its result with that of the CPU's kernels.
//
// A grid kernel is a struct with
//   Args       what a launch is given: plain data, at most kGridArgsMax bytes
//   Shared     what the threads of a block share; its contents mean nothing when a block begins
//   kThreads   threads of a block
//   kPhases    how often all of them meet: what one phase wrote to Shared, the next may read
//   template <int kPhase> static void run(const Args&, Shared&, int block, int thread)
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#ifdef __CUDACC__
#define STOKER_HOST_DEVICE __host__ __device__
#else
#define STOKER_HOST_DEVICE
#endif

namespace stoker {

/// Which of the items a block works on, where each takes the blocks from its own first one to the next item's.
template <auto kFirstBlock, class Item>
STOKER_HOST_DEVICE int item_of_block(const Item* items, int count, int block) {
  int low = 0, high = count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (items[middle].*kFirstBlock <= block ? low : high) = middle;
  }
  return low;
}
template <class Item>
STOKER_HOST_DEVICE int item_of_block(const Item* items, int count, int block) {
  return item_of_block<&Item::first_block>(items, count, block);
}

constexpr std::size_t kGridArgsMax = 512;

/// Runs one block after another, and in a block one thread after another.
template <class Kernel>
void run_grid_on_host(const typename Kernel::Args& args, int blocks) {
  static_assert(std::is_trivially_copyable_v<typename Kernel::Args> && sizeof(typename Kernel::Args) <= kGridArgsMax);
  const auto shared = std::make_unique_for_overwrite<typename Kernel::Shared>();
  const auto run_phase = [&]<int kPhase>(int block, std::integral_constant<int, kPhase>) {
    for (int thread = 0; thread < Kernel::kThreads; ++thread) {
      Kernel::template run<kPhase>(args, *shared, block, thread);
    }
  };
  for (int block = 0; block < blocks; ++block) {
    [&]<int... kPhase>(std::integer_sequence<int, kPhase...>) {
      (run_phase(block, std::integral_constant<int, kPhase>()), ...);
    }
    (std::make_integer_sequence<int, Kernel::kPhases>());
  }
}

}  // namespace stoker
