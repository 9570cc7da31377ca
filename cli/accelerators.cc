#include "cli/accelerators.h"

#include <algorithm>

#include "stoker/base/clock.h"
#include "stoker/runtime/share/step_barrier.h"

namespace stoker {

void Accelerators::start_epoch() { log_.start_epoch(emulated_.free_at_ns().value_or(now_ns())); }

void Accelerators::step(std::span<const BatchPtr> batches, std::int64_t samples) {
  std::int64_t ready_ns = 0;
  for (const BatchPtr& batch : batches) ready_ns = std::max(ready_ns, batch->ready_ns());
  if (barrier_) ready_ns = barrier_->latest(ready_ns);
  emulated_.step(ready_ns);
  log_.end_step(samples, {.nominal_ns = *emulated_.free_at_ns(), .real_ns = now_ns()});
}

}  // namespace stoker
