// The emulated accelerators that a run feeds. Those of a process step together, and with those of other ranks if there
// is a barrier.
#pragma once

#include <cstdint>
#include <span>

#include "stoker/device/accelerator.h"
#include "stoker/device/step_log.h"
#include "stoker/runtime/loader.h"

namespace stoker {

class StepBarrier;

class Accelerators {
 public:
  /// `count` in this process. The barrier, which may be null, must outlive this.
  Accelerators(int count, double step_seconds, StepBarrier* barrier, WaitUntil wait_until)
      : count_(count),
        step_seconds_(step_seconds),
        barrier_(barrier),
        emulated_(step_seconds, std::move(wait_until)),
        log_(step_seconds) {}

  int count() const { return count_; }
  double step_seconds() const { return step_seconds_; }

  void start_epoch();
  /// A step of all, in which each takes one of the batches; at an epoch's end there may be fewer. It begins when every
  /// accelerator, of all ranks, has its batch. Returns when it has ended.
  void step(std::span<const BatchPtr> batches, std::int64_t samples);

  double utilisation() const { return emulated_.utilisation(); }
  const StepLog& log() const { return log_; }

 private:
  int count_;
  double step_seconds_;
  StepBarrier* barrier_;
  EmulatedAccelerator emulated_;  // one timeline: all of them begin and end their steps together
  StepLog log_;
};

}  // namespace stoker
