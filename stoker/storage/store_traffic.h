// What was asked of stores over a network, and what came, counted for reports.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/storage/latency_histogram.h"

namespace stoker {

struct StoreTraffic {
  std::int64_t requests = 0;     // that were sent, with those that repeat another
  std::int64_t retries = 0;      // of them, those that repeat one that failed
  std::int64_t hedges = 0;       // of them, those sent because another was late
  std::int64_t redirects = 0;    // of them, those that another led to
  std::int64_t connections = 0;  // that were made
  std::int64_t bytes = 0;        // of bodies that were used
  std::int64_t body_ns = 0;      // from the first of their bytes to the last, summed over answers
  std::int64_t busy_ns = 0;      // how long any request was under way
  LatencyHistogram first_bytes{};

  StoreTraffic& operator+=(const StoreTraffic& other);
  /// What was added since an earlier reading.
  StoreTraffic& operator-=(const StoreTraffic& earlier);
};

/// What counts it: the connection that one or several stores share. Threads: any.
class TrafficMeter {
 public:
  virtual ~TrafficMeter() = default;

  /// From its beginning. No count is ever less than it was.
  virtual StoreTraffic traffic() const = 0;
};

/// Each once, however many stores share it.
using TrafficMeters = std::vector<std::shared_ptr<const TrafficMeter>>;

/// Adds what `into` lacks.
void add_meters(const TrafficMeters& meters, TrafficMeters& into);
StoreTraffic traffic_of(const TrafficMeters& meters);

}  // namespace stoker
