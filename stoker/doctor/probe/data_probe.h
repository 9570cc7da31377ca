// The data themselves: sizes, codecs, and what a loader reads of them.
#pragma once

#include <memory>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/probe/probe_limits.h"
#include "stoker/format/dataset.h"
#include "stoker/plan/recipe.h"
#include "stoker/runtime/loader_options.h"
#include "stoker/runtime/report/quarantine.h"

namespace stoker {

/// The list of bad samples that the options name. Null if they name none, or if there is no such file yet, which is not
/// made. Throws as the list does.
std::unique_ptr<const Quarantine> listed_bad_samples(const LoaderOptions& loader);

/// From what an index knows of the images, else from the images of some samples. Throws kData if no sample can be read.
DataFacts probe_data(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& loader,
                     const Quarantine* listed, const ProbeLimits& limits);

/// The run that is asked about, with every default filled in. Throws as a loader with these options does.
RunFacts run_facts(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& loader, bool direct);

}  // namespace stoker
