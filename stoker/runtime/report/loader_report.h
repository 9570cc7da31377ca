// What a running job says about itself, from two readings of its metrics: how fast it is, whether the GPU waits, what
// for, and what limits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/runtime/metrics.h"
#include "stoker/runtime/report/headspace.h"
#include "stoker/runtime/report/limiter.h"

namespace stoker {

/// What a wait for a batch was for.
enum class WaitCause : std::uint8_t {
  kStorage,       // "storage": local storage had yet to give the samples' bytes
  kNetwork,       // "network": the same of a store
  kCpuDecode,     // "cpu decode": workers were busy, with decoding
  kCpuTransform,  // "cpu transform": the same, with everything else
  kCopy,          // "copy": to the device
  kDevice,        // "device": its kernels
};
inline constexpr std::size_t kWaitCauses = 6;
std::string_view name_of(WaitCause cause);

struct LoaderReport {
  std::optional<std::int64_t> epoch{};  // unset: since the loader began
  std::int64_t samples = 0;             // delivered
  std::int64_t steps = 0;               // that the consumer made
  double seconds = 0;                   // in the loop: the steps, and the waits between them
  double wait_s = 0;
  std::array<double, kWaitCauses> wait_shares{};  // of the wait, by cause; they sum to 1, or are 0 if nothing waited
  std::optional<Headspace> headspace{};

  double samples_per_s() const;
  /// That the steps alone would take. Unset where the consumer does next to nothing: there is no step to feed.
  std::optional<double> samples_per_s_needed() const;
  /// The share of the loop that is waiting: an accelerator that is given its work in the loop is idle meanwhile.
  double gpu_idle() const { return seconds > 0 ? wait_s / seconds : 0; }
  double step_s() const { return steps > 0 ? (seconds - wait_s) / static_cast<double>(steps) : 0; }

  /// What limits, and then whatever else is known, ascending. Empty before the first step has ended.
  std::vector<Limit> limits{};
  std::optional<Limit> next() const { return limits.size() > 1 ? std::optional(limits[1]) : std::nullopt; }

  /// One sentence, without a full stop.
  std::string verdict() const;
  /// One line about an epoch: the verdict, the rate, the step.
  std::string line() const;
  std::string text() const;
  /// docs/reports.md lists the keys; those that the doctor has, too, have its names.
  nlohmann::ordered_json json() const;

  double batch_samples = 0;  // mean of a batch
};

/// `begin` was read before `end`, of the same loader, and best when it had delivered its first batch: the wait for that
/// one is nothing that a longer training would have. Batches, and samples in them, are counted from `counted_from` on,
/// which was read before that batch.
LoaderReport loader_report(const Metrics& counted_from, const Metrics& begin, const Metrics& end);
LoaderReport loader_report(const Metrics& begin, const Metrics& end);

}  // namespace stoker
