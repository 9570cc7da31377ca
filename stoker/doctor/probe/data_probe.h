// The data themselves: sizes, codecs, and what a loader reads of them.
#pragma once

#include "stoker/doctor/facts.h"
#include "stoker/doctor/probe/probe_limits.h"
#include "stoker/format/dataset.h"
#include "stoker/plan/recipe.h"
#include "stoker/runtime/loader_options.h"

namespace stoker {

/// From what an index knows of the images, else from the images of some samples. Throws kData if no sample can be read.
DataFacts probe_data(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& loader,
                     const ProbeLimits& limits);

/// The run that is asked about, with every default filled in. Throws as a loader with these options does.
RunFacts run_facts(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& loader, bool direct);

}  // namespace stoker
