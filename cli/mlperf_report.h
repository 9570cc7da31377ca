// What a run amounts to by the rules of MLPerf Storage, and its summary.json as that benchmark's DLIO writes it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stoker/device/accelerator_profiles.h"
#include "stoker/device/step_log.h"

namespace stoker {

/// A condition of a valid result.
struct MlperfRule {
  std::string_view name;
  bool holds;
  std::string why;  // a clause: "the data of 1.2 GB are less than 5 times the memory of 25.3 GB"
};

struct MlperfReport {
  const AcceleratorProfile* profile = nullptr;
  int batch = 0;
  int accelerators = 0;              // of all ranks
  std::int64_t samples = 0;          // of the data
  std::int64_t files = 0;            // that they lie in
  std::int64_t steps_per_epoch = 0;  // that the data are enough for
  std::uint64_t data_bytes = 0;
  std::uint64_t memory_bytes = 0;  // of the host, as far as the job may use it
  int cores = 0;                   // the same
  std::string start{}, end{};      // when the run began and ended
  /// Those of this rank. The samples per second are of all ranks.
  struct Epoch {
    std::int64_t steps = 0;
    std::optional<double> utilisation_percent;
    double samples_per_s = 0;
  };
  std::vector<Epoch> epochs{};

  /// Over the epochs that had at least two steps; 0 without any.
  double utilisation_mean_percent() const;
  bool meets_expectation() const;
  std::vector<MlperfRule> rules() const;

  /// The keys of DLIO's summary.json, and `stoker` with what else there is.
  nlohmann::ordered_json summary() const;
  /// The part of `run --json`.
  nlohmann::ordered_json json() const;
  std::string text() const;
};

/// "2026-11-26T07:45:05.123456", as DLIO writes times: of this place, now.
std::string time_of_day();

}  // namespace stoker
