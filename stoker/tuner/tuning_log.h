// The windows and moves of a tuner in a run, for people and for the tuning report. Threads: a value; many may read it,
// one may change it.
#pragma once

#include <cstdint>
#include <optional>
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
  KnobSetting next{};                       // what follows, and
  std::string why{};                        // why: one sentence
  std::optional<KnobSetting> settled_on{};  // also where another follows, for one window
};

struct TuningLog {
  std::string title;  // the program and the machine
  TunedWorkload workload{};
  KnobSetting first{};  // what the tuner began with, and
  std::string first_why{};
  std::vector<TuningMove> moves;  // the oldest first
  std::int64_t left_out = 0;      // windows without a change in a long run that are not in moves

  std::int64_t windows() const { return static_cast<std::int64_t>(moves.size()) + left_out; }
};

}  // namespace stoker
