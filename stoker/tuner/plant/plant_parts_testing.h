// The parts of a simulated machine, its recipe and its training, and a loader's rate there with given knobs: mechanisms
// of real machines, none designed for a tuner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/tuner/knob_setting.h"
#include "stoker/tuner/tuned_workload.h"

namespace stoker {

struct PlantStage {
  std::string name;
  double cpu_s = 0;                  // of a core that nothing disturbs
  std::optional<double> device_s{};  // unset: only the CPU can do it
  double bytes_out = 0;
  double cpu_told = 1, device_told = 1;  // what the calibration says, against the truth
};

struct PlantMachine {
  int cores = 8;
  double second_thread = 1;          // of a core, against its first; 1: every core is a whole one
  double serial_share = 0;           // of a sample's work that one thread at a time can do (Amdahl)
  double coherence = 0;              // what each pair of cores costs, as in Gunther's law: beyond a peak it gets worse
  double memory_bytes_per_s = 1e15;  // of all cores together
  double memory_passes = 3;          // how often memory moves each byte that a stage hands on
  double cold_share = 0;             // of the work, more, when batches made far ahead have left the caches
  std::uint64_t memory_limit = 0;    // the budget for batches on the host; 0: none
  double copy_bytes_per_s = 16e9;    // from host to device
};

struct PlantDevice {
  double launch_s = 0;      // per stage and batch
  double interference = 0;  // of the kernels' time that is taken from the step: 0 beside it, 1 instead of it
  bool fills_gaps = false;  // kernels run while the step waits, and take nothing from it then
};

struct PlantStore {
  double latency_s = 100e-6;
  double samples_per_read = 1;
  double bytes_per_s = 1e12;
  double knee = 1e9;   // reads under way at once that it bears
  double decline = 0;  // what it loses with each knee's worth of reads more
};

struct PlantTrainer {
  double step_s = 0.1;    // of a batch, with all data ready and the device its own
  double cores = 0;       // that the training itself keeps busy
  double host_share = 0;  // of the step, which takes longer when those cores are shared
  double jitter = 0;      // squared coefficients of variation of steps and of batches, added
};

struct PlantDrift {
  enum class Of : std::uint8_t { kNothing, kStep, kStore, kCpu } of = Of::kNothing;
  double size = 0;      // the largest deviation, as a logarithm
  double period = 300;  // windows
  double phase = 0;     // of a period
};

struct PlantMeasuring {
  int steps = 100;                      // in a window
  double noise = 0;                     // of a window's length: the standard deviation of its logarithm
  double outlier_share = 0;             // of windows
  double outlier_size = 0.3;            // up to how much longer they are
  bool outlier_in_step = false;         // or else in the wait
  double transient = 0;                 // of the first window after a change of knobs that still has the old ones
  bool busy_counts_contention = false;  // a stage's seconds grow with what slows it down
};

struct PlantParts {
  std::uint64_t seed = 0;  // of the noise
  PlantMachine machine;
  std::vector<PlantStage> stages;
  double overhead_s = 1e-6;   // of a core per sample, outside the stages
  double coded_bytes = 10e3;  // of a sample in the store, and on the way to the device at transfer index 0
  int batch = 256;
  int prefetch_max = 8;
  int io_depth_max = 32;
  PlantDevice device;
  PlantStore store;
  PlantTrainer trainer;
  PlantDrift drift;
  PlantMeasuring measuring;
  double sharpness = 30;  // of the corner where two limits meet, however deep the prefetch
};

/// A machine, a recipe and a training as they are met, from a seed: plant_mix_testing.cc has the odds. Of seeds 1 to
/// 300 the best point is limited by the step in 124, the CPU in 69, the copy in 41, the store in 39 and the device in
/// 27; in 65 threads and index have to be moved together (plant_mix_test.cc says what is counted).
PlantParts random_plant_parts(std::uint64_t seed);

/// Photographs on four cores and a device; the faster that is against a core, the more stages are better done there.
PlantParts photograph_parts(double device_speed);

/// What a calibration would say.
TunedWorkload told_workload(const PlantParts& parts);

/// What is different at a moment, against the parts.
struct PlantMoment {
  int cores_lost = 0;                   // to neighbours
  double step = 1, store = 1, cpu = 1;  // times as long
};

enum class PlantLimit : std::uint8_t { kCpu, kCopy, kDevice, kStore, kStep };
std::string_view name_of(PlantLimit limit);

/// Of one setting at one moment. Rates are samples per second; each what it would be if nothing else were a limit.
struct PlantRates {
  double cpu = 0, copy = 0, device = 0, store = 0, step = 0;
  double throughput = 0;  // of all together
  PlantLimit limit{};     // which of them is the least
  double step_s = 0;      // as the consumer measures it
  double contention = 1;  // how much longer than its work a worker is busy with a sample
};
PlantRates plant_rates(const PlantParts& parts, const PlantMoment& moment, const KnobSetting& knobs);

/// The store's part alone; a batch that is not made ahead has no reads under way.
double plant_store_rate(const PlantParts& parts, const PlantMoment& moment, const KnobSetting& knobs);

}  // namespace stoker
