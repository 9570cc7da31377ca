// The picture of what a tuner tried: threads across, transfer index down, and in each cell how fast training went.
#pragma once

#include "stoker/tuner/report/markup.h"
#include "stoker/tuner/tuning_log.h"

namespace stoker {

/// One picture for each time that the tuner searched, the last one first: between them something changed, and rates
/// from before and after are not to be compared. Of many, the last few. Nothing of a log in which no window has a rate.
void draw_tried(const TuningLog& log, Markup& out);

}  // namespace stoker
