#include "stoker/doctor/probe/probe_limits.h"

#include "stoker/base/error.h"

namespace stoker {

void ProbeLimits::check() const {
  if (stop.stop_requested()) fail(ErrorKind::kClosed, "the diagnosis was stopped");
}

}  // namespace stoker
