// A tuner's input before it begins: the work, as measured on a few samples, and its limits. Threads: a value; many may
// read it, one may change it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/tuner/knob_setting.h"

namespace stoker {

/// Seconds of one sample, on average, when nothing else is going on.
struct TunedStage {
  std::string name;
  double cpu_s = 0;                  // of one core
  std::optional<double> device_s{};  // of the device; unset: only the CPU can do this stage
  double bytes_out = 0;              // what the stage hands on
};

struct TunedWorkload {
  int cores = 1;                   // that the process may use
  std::uint64_t memory_bytes = 0;  // for batches on the host; 0: no limit
  TunedStage hand_over{};          // what the CPU does whatever the index, coded images being what it hands on; zeros
                                   // where that is not known
  std::vector<TunedStage> stages;  // then, in order; a transfer index k leaves the first k to the CPU
  int batch = 1;
  int prefetch_max = 1;
  int io_depth_max = 1;
  int io_depth_first = 32;  // as far as there are so many: where the search begins
};

/// The default ceiling of worker threads: four fifths of the cores, so that the training itself has some.
int threads_max(int cores);

/// Whether a device can run a stage: else there is no transfer index.
bool has_device(const TunedWorkload& workload);

/// The transfer indices that are possible, in rising order: a device can do all stages from each on.
std::vector<int> transfer_indices(const TunedWorkload& workload);
/// The hand-over, then the stages.
std::vector<TunedStage> all_stages(const TunedWorkload& workload);

/// The host memory of the batches made ahead and the one being made: each holds what crosses to the device. Coded
/// images of unknown size count as no larger than the first stage's output.
double host_bytes(const TunedWorkload& workload, const KnobSetting& knobs);

}  // namespace stoker
