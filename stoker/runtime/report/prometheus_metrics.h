// The table of metrics in Prometheus's form: names by its conventions, in seconds and bytes, stages and knobs by label.
#pragma once

#include <prometheus/metric_family.h>

#include <span>
#include <string>
#include <vector>

#include "stoker/runtime/metrics.h"

namespace stoker {

/// One loader's metrics, and the labels that distinguish it from others of its process.
struct LoaderReading {
  std::string loader;
  int rank = 0;
  Metrics metrics;
};

/// "decode_ns" is a second's part of "stoker_stage_busy_seconds_total", "bytes_read" is "stoker_read_bytes_total".
std::string prometheus_name(const MetricSpec& spec);

/// Each family once, with the series of all loaders.
std::vector<prometheus::MetricFamily> prometheus_families(std::span<const LoaderReading> loaders);

}  // namespace stoker
