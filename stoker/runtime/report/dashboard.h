// The live page about running loaders, and the figures that it asks for every second: from the same readings as
// Prometheus gets.
#pragma once

#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stoker/runtime/metrics.h"

namespace stoker {

/// The readings of one loader that rates are made of: those of the last seconds. One thread at a time.
class RecentReadings {
 public:
  explicit RecentReadings(Metrics first) { readings_.push_back(std::move(first)); }

  void add(Metrics now);
  const Metrics& begin() const { return readings_.front(); }
  const Metrics& end() const { return readings_.back(); }

 private:
  std::deque<Metrics> readings_;
};

/// Of one loader: docs/reports.md lists the keys.
nlohmann::ordered_json dashboard_json(const std::string& name, int rank, const RecentReadings& readings);

/// The page. It needs nothing but "dashboard.json" beside it.
std::string dashboard_html();

}  // namespace stoker
