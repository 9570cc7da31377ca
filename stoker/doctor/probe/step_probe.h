// The training's step: given in seconds, published for a GPU and a model, or recorded by the last real training.
#pragma once

#include <string>
#include <string_view>

#include "stoker/doctor/facts.h"
#include "stoker/format/dataset.h"
#include "stoker/plan/recipe.h"

namespace stoker {

/// The word for a recorded step.
inline constexpr std::string_view kReplayStep = "replay";

struct StepQuestion {
  std::string step;  // "0.25", "mlperf:resnet50/h100", "replay"
  int batch = 0;     // of one GPU
  int gpus = 1;
  std::string cache_folder;  // where trainings leave their steps
};

/// A recorded step of another batch counts in proportion. Throws kUsage for a text that is none of these, and for a
/// step that no training has left, saying how to make one.
StepFacts probe_step(const StepQuestion& question, const Dataset& dataset, const Recipe& recipe);

}  // namespace stoker
