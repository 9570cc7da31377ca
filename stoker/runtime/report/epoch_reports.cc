#include "stoker/runtime/report/epoch_reports.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {

void EpochReports::begin_epoch(std::int64_t epoch) {
  const std::lock_guard lock(mutex_);
  end_running();
  const Metrics now = read_();
  running_ = Running{epoch, now, now};
}

void EpochReports::first_batch() {
  const std::lock_guard lock(mutex_);
  const Metrics now = read_();
  begin_ = now;
  if (running_) running_->begin = now;
}

std::optional<LoaderReport> EpochReports::end_epoch() {
  const std::lock_guard lock(mutex_);
  return end_running();
}

std::optional<LoaderReport> EpochReports::end_running() {
  if (!running_) return std::nullopt;
  const Running running = *std::exchange(running_, std::nullopt);
  // One that comes again replaces what it was.
  std::erase_if(ended_, [&](const LoaderReport& report) { return report.epoch == running.epoch; });
  ended_.push_back(report_of(running));
  if (ended_.size() > kKept) ended_.pop_front();
  return ended_.back();
}

LoaderReport EpochReports::report_of(const Running& running) const {
  LoaderReport report = loader_report(running.counted_from, running.begin, read_());
  report.epoch = running.epoch;
  report.headspace = headspace_;
  return report;
}

void EpochReports::set_headspace(const Headspace& headspace) {
  const std::lock_guard lock(mutex_);
  headspace_ = headspace;
}

LoaderReport EpochReports::since_beginning() const {
  const std::lock_guard lock(mutex_);
  const Metrics now = read_();
  LoaderReport report = loader_report(Metrics{}, begin_.value_or(now), now);
  report.headspace = headspace_;
  return report;
}

LoaderReport EpochReports::of(std::int64_t epoch) const {
  const std::lock_guard lock(mutex_);
  if (running_ && running_->epoch == epoch) return report_of(*running_);
  const auto found =
      std::find_if(ended_.begin(), ended_.end(), [&](const LoaderReport& report) { return report.epoch == epoch; });
  if (found != ended_.end()) return *found;
  if (!running_ && ended_.empty()) fail(ErrorKind::kUsage, "there is no report of epoch {}: none has begun yet", epoch);
  fail(ErrorKind::kUsage, "there is no report of epoch {}: it did not run, or more than {} epochs ago; the last is {}",
       epoch, kKept, running_ ? running_->epoch : *ended_.back().epoch);
}

}  // namespace stoker
