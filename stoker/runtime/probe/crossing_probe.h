// Measures the cost of a plan's samples at each transfer index: on a core, on the device, and on the way between them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stoker/device/device.h"
#include "stoker/format/dataset.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/device_batch.h"
#include "stoker/plan/kept_values.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/board/loader_batch.h"
#include "stoker/runtime/engine/scratch_budget.h"
#include "stoker/runtime/samples/sample_reader.h"

namespace stoker {

/// Of one sample, on average.
struct CrossingCost {
  double cpu_us = 0;
  double bytes_to_device = 0;
  std::optional<double> device_us;  // of its kernels; unset if it is not measured
};

class CrossingProbe {
 public:
  /// For this many samples at a time. `side` has a device; `gate`: to the memory that decoding takes, if that is
  /// budgeted. All of them must outlive it. Throws kMemory.
  CrossingProbe(const Dataset& dataset, const Plan& plan, const DeviceSide& side, int slots,
                ScratchGate* gate = nullptr, const DecodeLimits& limits = {});

  /// Takes one sample for each slot through one batch, twice: once to warm up. Throws what reading or decoding a sample
  /// throws, naming it.
  CrossingCost measure(int transfer_index, std::span<const std::int64_t> samples, std::uint64_t seed);

 private:
  CrossingCost measure_once(int transfer_index, std::span<const std::int64_t> samples, std::uint64_t seed);

  const Dataset& dataset_;
  const Plan& plan_;
  Device& device_;
  ScratchGate* const gate_;
  SampleReader reader_;
  CpuExecutor executor_;
  const KeptValues kept_;  // of one sample
  Memory out_;
  DeviceBatch batch_;
};

}  // namespace stoker
