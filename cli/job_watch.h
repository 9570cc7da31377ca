// Watches a job over a data set for a command: Ctrl-C, which stops the job, and its progress.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>

#include "cli/interrupts.h"
#include "cli/progress.h"

namespace stoker {

/// Destroy it before the command writes its results: the progress line disappears with it.
class JobWatch {
 public:
  /// `unit` is the displayed unit, worth `unit_size` of what the job counts. Both names must outlive it.
  JobWatch(Interrupts& interrupts, std::string_view what, std::string_view unit, std::int64_t unit_size = 1);
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;

  std::stop_token stop() const { return stop_.get_token(); }
  /// Called by the job, on one thread, first with the work of an earlier call. Must not outlive this object.
  std::function<void(std::int64_t done, std::int64_t total)> progress();
  /// Since it was made.
  double seconds() const;

 private:
  const std::string_view what_, unit_;
  const std::int64_t unit_size_, began_ns_;
  std::stop_source stop_;
  std::optional<Progress> progress_;
  Interrupts::Scope scope_;  // last: it calls the above
};

inline constexpr std::int64_t kMegabyte = 1'000'000;

}  // namespace stoker
