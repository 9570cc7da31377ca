// How much faster a training could step if its data were always there: measured in the job itself, by giving its
// consumer a batch that it has had, again and again.
#pragma once

#include <string>

#include "stoker/runtime/report/step_times.h"

namespace stoker {

struct Headspace {
  StepSummary alone;          // steps with a batch that was there
  double with_loading_s = 0;  // mean of the steps before, waits included; 0: there were none

  /// What loading adds to a step, in seconds: waits, and cores and memory that are taken from it. Never below 0.
  double loading_s() const;
  /// The same as a share of a step with loading.
  double share() const { return with_loading_s > 0 ? loading_s() / with_loading_s : 0; }
  /// A sentence.
  std::string text() const;
};

}  // namespace stoker
