// Whether a plan suits a data set, as far as that is known before a sample is read.
#pragma once

#include "stoker/format/dataset.h"
#include "stoker/plan/plan.h"

namespace stoker {

/// Throws kUsage, naming the view, for sequences of another length than the view takes; and for a field that no sample
/// has; if it is optional, that is logged.
void check_suits(const Plan& plan, const Dataset& dataset);

}  // namespace stoker
