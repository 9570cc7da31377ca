// Leaves the time of a training's steps for the doctor. Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "stoker/runtime/report/loader_report.h"
#include "stoker/runtime/report/step_record.h"
#include "stoker/runtime/report/step_times.h"

namespace stoker {

class StepKeeper {
 public:
  static constexpr std::int64_t kStepsLeast = 20;

  /// `batch`: samples that each rank takes in a step; `world`: ranks.
  StepKeeper(KeptStep kept, int batch, int world) : kept_(std::move(kept)), batch_(batch), world_(world) {}

  /// Where training stops, for now or for good: keeps what its steps took without their waits, if there were enough of
  /// them and none was kept lately. What a replay measured is better, and stays.
  void rest(const StepTimes& steps, const LoaderReport& report);
  /// A replay measured it.
  void replayed(const StepSummary& alone) { save(alone, "replay"); }

 private:
  void save(const StepSummary& steps, const char* how);

  const KeptStep kept_;
  const int batch_, world_;
  std::atomic<std::int64_t> kept_ns_ = 0;  // when one was kept last; 0: none was
};

}  // namespace stoker
