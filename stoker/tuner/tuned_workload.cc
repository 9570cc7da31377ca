#include "stoker/tuner/tuned_workload.h"

#include <algorithm>

namespace stoker {

int threads_max(int cores) { return std::max(1, (4 * cores + 4) / 5); }

bool has_device(const TunedWorkload& workload) {
  return std::any_of(workload.stages.begin(), workload.stages.end(),
                     [](const TunedStage& stage) { return stage.device_s.has_value(); });
}

std::vector<int> transfer_indices(const TunedWorkload& workload) {
  const int stages = static_cast<int>(workload.stages.size());
  std::vector<int> indices = {stages};
  while (indices.back() > 0 && workload.stages[static_cast<std::size_t>(indices.back() - 1)].device_s) {
    indices.push_back(indices.back() - 1);
  }
  std::reverse(indices.begin(), indices.end());
  return indices;
}

std::vector<TunedStage> all_stages(const TunedWorkload& workload) {
  std::vector<TunedStage> stages = {workload.hand_over};
  stages.insert(stages.end(), workload.stages.begin(), workload.stages.end());
  return stages;
}

double host_bytes(const TunedWorkload& workload, const KnobSetting& knobs) {
  if (workload.stages.empty()) return 0;
  const auto before = static_cast<std::size_t>(std::max(0, knobs.transfer_index - 1));
  const bool coded = knobs.transfer_index == 0 && workload.hand_over.bytes_out > 0;
  const double each = coded ? workload.hand_over.bytes_out : workload.stages[before].bytes_out;
  return each * workload.batch * (knobs.prefetch + 1);
}

}  // namespace stoker
