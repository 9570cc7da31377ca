// What is said of a training first: whether its GPUs are fed, in one line, and where their time goes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/model/prediction.h"
#include "stoker/runtime/report/limiter.h"

namespace stoker {

/// A part of the GPUs' time.
struct TimePart {
  enum class Kind : unsigned char {
    kBusy,
    kWaits,   // for what limits: as much as would vanish if that limit were as high as the next one
    kUneven,  // for batches that are late although the means would do
  };
  Kind kind = Kind::kBusy;
  Limiter limiter = Limiter::kStep;  // that is waited for
  double share = 0;

  /// "busy", "waits for CPU decode", "waits for uneven batches".
  std::string text() const;
};

struct TrainingVerdict {
  std::string sentence;     // "GPU idle 38%: CPU decode is the limit; next limit storage bandwidth at 1.4x"
  std::string tentative{};  // the same, where the sentence is that it would not run, or cannot be measured
  BoundClass bound = BoundClass::kFed;
  Limit bottleneck{Limiter::kStep, 0};      // what the GPUs wait for; the step if they do not
  std::optional<Limit> next{};              // what limits without it
  std::vector<TimePart> gpu_time{};         // sums to 1
  std::vector<std::string> not_measured{};  // phrases: why the answer is not to be relied on; empty if it is

  std::string stops{};  // a phrase: why a run would not come to its end; empty if it would

  bool runs() const { return stops.empty(); }
  bool measurable() const { return not_measured.empty(); }
  bool fed() const { return bound == BoundClass::kFed; }
};

/// `now` is predict(facts).
TrainingVerdict judge(const Facts& facts, const Prediction& now);

/// The shares, whose sum is 1, as whole percents whose sum is 100: those that lose most by rounding down are rounded
/// up.
std::vector<int> whole_percents(const std::vector<double>& shares);

}  // namespace stoker
