// Measures what a plan's samples take at each transfer index: of a core, of the device, and of the way between them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/device/device.h"
#include "stoker/format/dataset.h"
#include "stoker/plan/plan.h"

namespace stoker {

/// Of one sample, on average.
struct CrossingCost {
  double cpu_us = 0;
  double bytes_to_device = 0;
  std::optional<double> device_us;  // of its kernels; unset where nobody measures
};

/// One per transfer index. `samples`, which must not be empty, are taken as one batch from the beginning of epoch 0.
/// Throws what reading or decoding a sample throws, naming it, and kMemory.
std::vector<CrossingCost> measure_crossings(const Dataset& dataset, const Plan& plan,
                                            const std::vector<std::int64_t>& samples, std::uint64_t seed,
                                            Device& device);

}  // namespace stoker
