// All figures that the probes gave, as a table.
#pragma once

#include "stoker/doctor/facts.h"
#include "stoker/page/report_page.h"

namespace stoker {

/// Each with its quartiles, the number of tries, and what may be wrong with it. What was not measured is left out.
PageTable figure_table(const Facts& facts);

}  // namespace stoker
