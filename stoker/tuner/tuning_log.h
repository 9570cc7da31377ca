// What a tuner did in a run, window by window: for people, and for the report that is drawn of it. Threads: a value;
// many may read it, one may change it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/tuner/knob_setting.h"
#include "stoker/tuner/tuned_workload.h"
#include "stoker/tuner/tuner_window.h"

namespace stoker {

struct TuningMove {
  double at_s = 0;      // when the window ended, since the loader began
  KnobSetting knobs{};  // that it ran with
  TunerWindow window{};
  KnobSetting next{};  // what follows, and
  std::string why{};   // why: one sentence
  bool settled = false;
};

struct TuningLog {
  std::string title;  // what was run, and on what
  TunedWorkload workload{};
  KnobSetting first{};  // what the tuner began with, and
  std::string first_why{};
  std::vector<TuningMove> moves;  // the oldest first
  std::int64_t left_out = 0;      // windows of a long run's quiet times that moves lacks

  std::int64_t windows() const { return static_cast<std::int64_t>(moves.size()) + left_out; }
};

}  // namespace stoker
