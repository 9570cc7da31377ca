// The report of `run` at its end, for people and for programs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/mlperf_report.h"
#include "stoker/runtime/report/loader_report.h"
#include "stoker/runtime/report/metrics_window.h"
#include "stoker/storage/cache/cache_counters.h"
#include "stoker/tuner/tuning_log.h"

namespace stoker {

struct RunReport {
  double seconds = 0;       // from the loader's start to the last batch's release
  double cpu_s = 0;         // of the whole process in that time
  std::int64_t epochs = 0;  // that began, including one that --batches cut short
  int threads = 0, prefetch = 0, io_depth = 0, batch = 0;
  std::string io;          // what read the samples
  int transfer_index = 0;  // stages on the CPU
  struct Device {
    std::string name = "cpu", caveat;
  } device;
  std::optional<double> step_seconds;  // of the accelerator, if there is one
  int accelerators = 0;                // that took a batch each
  std::optional<double> utilisation;
  std::optional<MlperfReport> mlperf;      // where the accelerator is a profile of MLPerf Storage
  MetricsWindow metrics{Metrics()};        // of all that time
  std::optional<DiskCacheCounters> cache;  // on a disk
  bool has_store = false;                  // the data, or a part, come from stores over a network
  std::int64_t store_ns_before = 0;        // Metric::kStoreNs when that time began: opening asks stores, too
  LoaderReport limits;                     // since the first batch
  std::vector<LoaderReport> epoch_limits;  // of the last epochs
  bool tunes = false;                      // any knob
  TuningLog tuning;

  /// Scripts rely on the keys, which docs/reports.md explains; none is ever left out.
  nlohmann::ordered_json json() const;
  std::string text() const;
};

nlohmann::ordered_json cache_json(const DiskCacheCounters& cache);

}  // namespace stoker
