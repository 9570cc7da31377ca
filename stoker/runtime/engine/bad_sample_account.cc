#include "stoker/runtime/engine/bad_sample_account.h"

#include <fmt/format.h>

#include <string>

#include "stoker/base/error.h"
#include "stoker/base/log.h"

namespace stoker {

BadSampleAccount::BadSampleAccount(EngineCore& core, std::int64_t slots)
    : core_(core), most_(bad_samples_most(slots)) {}

void BadSampleAccount::begin_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  epoch_bad_.clear();
}

void BadSampleAccount::add(std::span<const BadSlot> slots) {
  in_batch_.clear();
  for (const BadSlot& bad : slots) in_batch_.push_back({bad.bad, bad.known});
  for (const BadSlot& bad : slots) {
    const bool is_new = met_.emplace(bad.sample, bad.bad).second;
    if (is_new) core_.metrics.add(Metric::kBadSamples, 1);
    if (bad.known) continue;
    if (is_new) {
      if (core_.bad_sample != BadSlotPolicy::kFail) log(LogLevel::kWarning, "bad sample: {}", bad.bad.reason);
      if (core_.quarantine) core_.quarantine->add(bad.bad);
    }
    if (core_.bad_sample == BadSlotPolicy::kFail || !epoch_bad_.insert(bad.sample).second) continue;
    if (static_cast<std::int64_t>(epoch_bad_.size()) <= most_) continue;
    fail(ErrorKind::kBadSample,
         "epoch {} has met {} bad samples, more than the {} that a run tolerates; the last: {}{}", epoch_,
         epoch_bad_.size(), most_, bad.bad.reason,
         core_.quarantine
             ? fmt::format("; '{}' lists them", core_.quarantine->path())
             : "; correct the recipe or, if the data are damaged, list the bad samples by `stoker verify DATA "
               "--quarantine FILE` and pass over them in a run with --quarantine FILE (in Python: quarantine=)");
  }
}

std::vector<BadSample> BadSampleAccount::all() const {
  std::vector<BadSample> samples;
  for (const auto& [number, sample] : met_) samples.push_back(sample);
  return samples;
}

}  // namespace stoker
