// What budget would do, for the error of a sample that a loader's cannot hold: not for that sample alone, but for all.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "stoker/runtime/engine/memory_plan.h"
#include "stoker/runtime/samples/sample_needs.h"

namespace stoker {

/// Threads: any.
class EnoughMemory {
 public:
  /// The plan must outlive it.
  EnoughMemory(std::shared_ptr<const Dataset> dataset, const Plan& plan, ResolvedOptions options);

  /// "413MB of memory": in which a sample can be had that needs so much, and all others. The first call looks for the
  /// largest ones, and takes a second or two.
  std::string text(const SampleNeeds& needs) const;

 private:
  const std::shared_ptr<const Dataset> dataset_;
  const Plan& plan_;
  ResolvedOptions options_;
  mutable std::mutex mutex_;
  mutable std::optional<SampleNeeds> largest_;
};

}  // namespace stoker
