// The reports of a loader: of its last epochs, of the one that runs, and of all since it began. Threads: any, except
// where it says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "stoker/runtime/metrics.h"
#include "stoker/runtime/report/headspace.h"
#include "stoker/runtime/report/loader_report.h"
#include "stoker/runtime/report/step_times.h"

namespace stoker {

class EpochReports {
 public:
  static constexpr std::size_t kKept = 128;  // epochs that have ended

  /// `read` reads the loader's metrics.
  explicit EpochReports(std::function<Metrics()> read) : read_(std::move(read)) {}

  // The consumer's thread: these four.

  /// An epoch that runs ends with it.
  void begin_epoch(std::int64_t epoch);
  /// The loader's first batch is there: what it took to get it counts for no epoch.
  void first_batch();
  /// None needs to run. Returns its report.
  std::optional<LoaderReport> end_epoch();
  StepTimes& steps() { return steps_; }

  const StepTimes& steps() const { return steps_; }
  void set_headspace(const Headspace& headspace);

  LoaderReport since_beginning() const;
  /// Of an epoch that runs, as far as it has come. Throws kUsage for one that has not begun, or that is too long ago.
  LoaderReport of(std::int64_t epoch) const;

 private:
  struct Running {
    std::int64_t epoch;
    Metrics counted_from;
    Metrics begin;  // the same, or when the first batch of all had been delivered
  };

  LoaderReport report_of(const Running& running) const;
  std::optional<LoaderReport> end_running();

  const std::function<Metrics()> read_;
  StepTimes steps_;

  mutable std::mutex mutex_;
  std::optional<Metrics> begin_;  // when the loader had delivered its first batch
  std::optional<Running> running_;
  std::deque<LoaderReport> ended_;  // the oldest first
  std::optional<Headspace> headspace_;
};

}  // namespace stoker
