// Whether a loader would take a run that a what-if describes.
#pragma once

#include "stoker/doctor/model/configuration.h"
#include "stoker/format/dataset.h"
#include "stoker/plan/recipe.h"
#include "stoker/runtime/loader_options.h"

namespace stoker {

/// `loader` is what the run has that is asked about, on so many GPUs. Throws what a loader throws for options that
/// contradict each other or the data, and for memory that cannot hold its batches.
void check_run(const Dataset& dataset, const Recipe& recipe, LoaderOptions loader, const Configuration& change,
               int gpus);

}  // namespace stoker
