// What a tuner did in a run and what came of it, as a page for people whose training is slow: a verdict, pictures, and
// every move with its reason.
#pragma once

#include <string>

#include "stoker/tuner/tuning_log.h"

namespace stoker {

/// A ReportPage.
std::string tune_report_html(const TuningLog& log);

}  // namespace stoker
