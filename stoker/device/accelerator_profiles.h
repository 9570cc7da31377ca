// The training steps and the data of MLPerf Storage's workloads, as the benchmark publishes them: what an emulated
// accelerator is given, and what `synth --like` makes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace stoker {

/// The data that a training reads, and how busy they have to keep its accelerators.
struct TrainingWorkload {
  std::string_view name;    // "unet3d"
  std::string_view format;  // of its files: "tfrecord", "npz", "jpeg", "parquet"
  std::int64_t files, samples_per_file;
  double record_bytes, record_bytes_sd;  // of a sample: mean, and standard deviation
  double utilisation_min;                // the least share of the time that its accelerators have to compute

  std::int64_t samples() const { return files * samples_per_file; }
  double bytes() const { return static_cast<double>(samples()) * record_bytes; }
};
std::vector<const TrainingWorkload*> training_workloads();

/// Throws kUsage, suggesting the nearest name.
const TrainingWorkload& find_training_workload(std::string_view name);

/// A published training step: so many seconds for a batch of so many samples.
struct AcceleratorProfile {
  std::string_view name;  // "mlperf:resnet50/h100"
  int batch;
  double seconds_per_step;
  const TrainingWorkload* workload;
};
const std::vector<AcceleratorProfile>& accelerator_profiles();

/// The profile of that name, in which case does not count; null without one.
const AcceleratorProfile* find_accelerator_profile(std::string_view name);

}  // namespace stoker
