// A page on what a tuner did in a run and the result, for people whose training is slow: a verdict, charts, and every
// move with its reason.
#pragma once

#include <string>

#include "stoker/tuner/tuning_log.h"

namespace stoker {

/// A ReportPage.
std::string tune_report_html(const TuningLog& log);

}  // namespace stoker
