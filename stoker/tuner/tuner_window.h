// The measurements of a loader over a period with one setting of its knobs. Threads: a value; many may read it, one may
// change it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/stage_side.h"

namespace stoker {

struct TunerWindow {
  struct Stage {
    std::string name;
    StageSide side = StageSide::kCpu;
    double seconds = 0;  // busy with this stage in the window, of all threads together
  };

  std::int64_t samples = 0;  // delivered
  double seconds = 0;        // of the wall clock
  double wait_s = 0;         // in which the consumer waited for a batch
  double step_s = 0;         // of one of the consumer's steps, on average; the tuner goes by seconds less wait_s
  std::vector<Stage> stages;
};

/// A consumer that waits for a smaller share of its time than this is limited only by itself.
inline constexpr double kWaitsLittle = 0.01;

}  // namespace stoker
