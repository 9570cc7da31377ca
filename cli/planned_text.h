// How commands tell of a plan that they made.
#pragma once

#include <string>

#include "stoker/pack/pack_plan.h"

namespace stoker {

void tell_plan(const std::string& plan, const PlanSummary& summary, double seconds, bool as_json);

}  // namespace stoker
