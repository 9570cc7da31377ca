// The pictures of a tuning report that have time across: throughput, wait and knobs, one beneath the other.
#pragma once

#include "stoker/tuner/report/markup.h"
#include "stoker/tuner/tuning_log.h"

namespace stoker {

/// One SVG, and what it leaves out in words. Nothing of a log without moves.
void draw_time_charts(const TuningLog& log, Markup& out);

}  // namespace stoker
