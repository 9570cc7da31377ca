// The consumer's last steps, and what each waited for its batch: what a step takes, and what its waits add. Threads:
// any, but one adds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace stoker {

/// Times of steps, in seconds.
struct StepSummary {
  std::int64_t count = 0;
  double mean_s = 0;
  double median_s = 0;
  double low_s = 0, high_s = 0;  // the quartiles
};
/// Of none, all of it is 0.
StepSummary summary_of(std::vector<double> seconds);

/// "12.3 ms", "1.4 s".
std::string step_text(double seconds);

class StepTimes {
 public:
  static constexpr std::size_t kKept = 256;

  void add(std::int64_t step_ns, std::int64_t wait_ns);

  /// Of the steps by themselves, and with their waits.
  StepSummary alone() const { return summary(false); }
  StepSummary with_waits() const { return summary(true); }
  std::int64_t count() const;

 private:
  StepSummary summary(bool with_waits) const;

  struct Step {
    std::int64_t step_ns, wait_ns;
  };

  mutable std::mutex mutex_;
  std::array<Step, kKept> steps_{};  // the next one in place of the oldest
  std::int64_t count_ = 0;           // ever
};

}  // namespace stoker
