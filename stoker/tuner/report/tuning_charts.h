// The charts of a tuning report, as data for a ReportPage.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stoker/tuner/tuning_log.h"

namespace stoker {

struct TuningChart {
  nlohmann::ordered_json data;
  std::string caption;
};

/// Throughput, wait, and the knobs that changed, over time. What is settled is shaded; where the knobs changed is a
/// mark. The log must have a move.
TuningChart tuning_over_time(const TuningLog& log);

/// What was tried: threads across, transfer index down, and in each cell how fast training went. One for each time that
/// the tuner searched, the last one first: between them something changed, and rates from before and after are not to
/// be compared. Of many, the last few, and only those in which a window has a rate.
std::vector<TuningChart> tried_settings(const TuningLog& log);

}  // namespace stoker
