// Measures the costs of stages with a few samples before the tuner begins: on a core, on the device, and on the way
// between them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "stoker/runtime/probe/crossing_probe.h"

namespace stoker {

struct CalibrationOptions {
  std::uint64_t seed = 0;
  ScratchGate* gate = nullptr;
  DecodeLimits limits{};
  /// Lends this much memory until it is released, or refuses.
  std::function<bool(const LoaderBatchBytes&)> lend;
  /// The outcome is no longer needed.
  std::function<bool()> stop;
};

/// By transfer index; it takes at most about 2 s, and 200 samples. Samples that cannot be read or decoded are left out.
/// Unset if no sample can be decoded, the device reports no times, there is no memory for the measurement, or it was
/// stopped.
std::optional<std::vector<CrossingCost>> calibrate(const Dataset& dataset, const Plan& plan, const DeviceSide& side,
                                                   const CalibrationOptions& options);

}  // namespace stoker
