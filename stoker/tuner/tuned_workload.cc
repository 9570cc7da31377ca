#include "stoker/tuner/tuned_workload.h"

#include <algorithm>

namespace stoker {

int threads_max(int cores) { return std::max(1, (4 * cores + 4) / 5); }

double host_bytes(const TunedWorkload& workload, const KnobSetting& knobs) {
  if (workload.stages.empty()) return 0;
  const int before = std::max(0, knobs.transfer_index - 1);
  const double each = workload.stages[static_cast<std::size_t>(before)].bytes_out;
  return each * workload.batch * (knobs.prefetch + 1);
}

}  // namespace stoker
