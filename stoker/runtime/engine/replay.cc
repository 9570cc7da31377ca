#include "stoker/runtime/engine/replay.h"

#include <cstddef>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {

void Replay::ask(int steps) {
  if (steps < kStepsMin) {
    fail(ErrorKind::kUsage, "headspace is measured over {} steps or more; {} were asked for", kStepsMin, steps);
  }
  stop();
  times_.reserve(static_cast<std::size_t>(steps));
  asked_ = steps;
}

void Replay::stop() {
  left_ = 0;
  batch_.reset();
}

void Replay::delivered(const BatchPtr& batch) {
  if (asked_ == 0) return;
  left_ = std::exchange(asked_, 0);
  batch_ = batch;
  gave_ns_ = 0;
  times_.clear();
}

BatchPtr Replay::again(std::int64_t now_ns) {
  if (gave_ns_ != 0) times_.push_back(static_cast<double>(now_ns - gave_ns_) * 1e-9);
  if (left_ == 0) {
    batch_.reset();
    return nullptr;
  }
  --left_;
  gave_ns_ = now_ns;
  return batch_;
}

std::vector<double> Replay::step_times() const {
  return {times_.begin() + static_cast<std::ptrdiff_t>(times_.size() / 4), times_.end()};
}

}  // namespace stoker
