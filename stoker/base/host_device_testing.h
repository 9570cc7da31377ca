// Runs grids in any order, as a device may.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "stoker/base/host_device.h"
#include "stoker/base/noise_testing.h"

namespace stoker {

/// As run_grid_on_host(), but runs blocks, and the threads of a phase, in any order, with shared memory that begins as
/// noise. A kernel that depends on an order makes other bits.
template <class Kernel>
void run_grid_shuffled(const typename Kernel::Args& args, int blocks, std::uint32_t seed) {
  using Shared = typename Kernel::Shared;
  static_assert(std::is_trivially_copyable_v<Shared>);
  Noise noise(seed);
  const auto shuffled = [&](int count) {
    std::vector<int> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    for (int i = count - 1; i > 0; --i) {
      std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(noise.between(0, i))]);
    }
    return order;
  };
  const auto shared = std::make_unique<Shared>();
  const auto run_phase = [&]<int kPhase>(int block, std::integral_constant<int, kPhase>) {
    for (const int thread : shuffled(Kernel::kThreads)) Kernel::template run<kPhase>(args, *shared, block, thread);
  };
  for (const int block : shuffled(blocks)) {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(shared.get());
    std::generate(bytes, bytes + sizeof(Shared), [&] { return noise.byte(); });
    [&]<int... kPhase>(std::integer_sequence<int, kPhase...>) {
      (run_phase(block, std::integral_constant<int, kPhase>()), ...);
    }
    (std::make_integer_sequence<int, Kernel::kPhases>());
  }
}

/// In order, or, with a seed of 1 or more, in the order that it draws.
template <class Kernel>
void run_grid(const typename Kernel::Args& args, int blocks, std::uint32_t seed) {
  if (seed == 0) {
    run_grid_on_host<Kernel>(args, blocks);
  } else {
    run_grid_shuffled<Kernel>(args, blocks, seed);
  }
}

}  // namespace stoker
