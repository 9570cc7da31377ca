// A few samples tell what stages cost before the tuner begins: on a core, on the device, and on the way between them.
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
  /// So much memory is to be had until further notice, or not.
  std::function<bool(const LoaderBatchBytes&)> lend;
  /// Nobody waits for the outcome any more.
  std::function<bool()> stop;
};

/// By transfer index; it takes at most about 2 s, and 200 samples. Samples that cannot be read or decoded are left out.
/// Unset where none of them can, where the device tells no times, where there is no memory for it, or it was stopped.
std::optional<std::vector<CrossingCost>> calibrate(const Dataset& dataset, const Plan& plan, const DeviceSide& side,
                                                   const CalibrationOptions& options);

}  // namespace stoker
