// A loader and the emulated accelerator that it feeds, in passes: so that several loaders of one process can be
// measured in turn, all but one of them at rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/device/accelerator.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/report/metrics_window.h"
#include "stoker/tuner/knob_setting.h"

namespace stoker {

struct PassLength {
  double seconds;  // at least, and
  int batches;     // at least
};

struct Pass {
  double samples_per_s = 0;
  double wait_share = 0;    // of the time, that the accelerator had no batch
  double device_bytes = 0;  // that were copied to the device, of a sample
};

class FedLoader {
 public:
  FedLoader(std::shared_ptr<const Dataset> data, const Recipe& recipe, LoaderOptions options, double step_s)
      : loader_(std::move(data), recipe, std::move(options)), step_s_(step_s), accelerator_(step_s) {
    loader_.start_epoch(0);
  }

  const Loader& loader() const { return loader_; }

  KnobSetting knobs() const {
    return {loader_.threads(), loader_.transfer_index(), loader_.prefetch(), loader_.io_depth()};
  }

  /// Batches that were made before it, and those on their way, are still to come.
  void set(const KnobSetting& knobs) {
    loader_.set({.threads = knobs.threads,
                 .prefetch = knobs.prefetch,
                 .transfer_index = knobs.transfer_index,
                 .io_depth = knobs.io_depth});
  }

  /// One batch, from asking for it to the end of the accelerator's step.
  void step() {
    BatchPtr batch = loader_.next();
    if (!batch) {
      loader_.start_epoch(++epoch_);
      batch = loader_.next();
    }
    if (!batch) fail(ErrorKind::kData, "there is less than one batch");
    accelerator_.step(std::max(batch->ready_ns(), began_ns_));
  }

  /// After `left_out` batches, which may be of other knobs, or were made while the loader was at rest.
  Pass measure(int left_out, const PassLength& length) {
    accelerator_ = EmulatedAccelerator(step_s_);
    began_ns_ = now_ns();
    for (int i = 0; i < left_out; ++i) step();
    const Metrics before = loader_.metrics();
    const std::int64_t began = now_ns();
    int batches = 0;
    double seconds = 0;
    for (; batches < length.batches || seconds < length.seconds; ++batches) {
      step();
      seconds = 1e-9 * static_cast<double>(now_ns() - began);
    }
    const MetricsWindow window(before, loader_.metrics());
    return {.samples_per_s = static_cast<double>(batches * loader_.batch_size()) / seconds,
            .wait_share = window.wait_share(),
            .device_bytes =
                static_cast<double>(window[Metric::kBytesToDevice]) / static_cast<double>(window[Metric::kSamples])};
  }

  /// Returns once it has made all batches ahead that it may, and nothing of it is at work any more. The next epoch
  /// begins, so that the time until then is none of the accelerator's steps.
  void rest() {
    loader_.start_epoch(++epoch_);
    const std::int64_t give_up = now_ns() + kPatienceNs;
    for (Metrics before = loader_.metrics();;) {
      sleep_until(now_ns() + kLookEveryNs);
      const Metrics now = loader_.metrics();
      if (at_rest(before, now)) return;
      if (now.at_ns > give_up) {
        fail(ErrorKind::kData, "a loader whose batches are not taken is still at work: {} of {} are ready, {} reads",
             now[Metric::kBatchesReady], now[Metric::kPrefetch], now[Metric::kReadsInFlight]);
      }
      before = now;
    }
  }

 private:
  static constexpr std::int64_t kLookEveryNs = 2'000'000;
  static constexpr std::int64_t kPatienceNs = 60'000'000'000;

  // The reader has waited for room, and no worker had anything to do, all the time in between.
  static bool at_rest(const Metrics& before, const Metrics& now) {
    const auto of = [&](Metric metric) { return now[metric] - before[metric]; };
    return now[Metric::kBatchesReady] >= now[Metric::kPrefetch] && now[Metric::kReadsInFlight] == 0 &&
           of(Metric::kWorkerBusyNs) == 0 && of(Metric::kReaderStallNs) >= now.at_ns - before.at_ns;
  }

  Loader loader_;
  const double step_s_;
  EmulatedAccelerator accelerator_;
  std::int64_t began_ns_ = 0;  // of the pass: it makes up for nothing that was before
  std::int64_t epoch_ = 0;
};

}  // namespace stoker
