#include "stoker/runtime/samples/sample_trials.h"

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/order/epoch_order.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

// After this many bad samples and not a good one the search ends; the whole data set is not read.
constexpr std::size_t kBadMax = 1000;

BadSample told(const Dataset& dataset, std::int64_t sample, const Error& error) {
  const SampleRow row = dataset.row(sample);
  return {row.source ? row.source->name() : std::string(), row.key, row.fields.empty() ? 0 : row.fields.front().offset,
          error.message()};
}

}  // namespace

TriedSamples try_samples(const Dataset& dataset, const TrialOptions& options, const SampleTrial& trial) {
  const EpochOrder order({.samples = dataset.size(), .seed = options.seed}, 0);
  const std::int64_t count = std::min(options.count, dataset.size());
  const bool substitutes = options.bad_sample == BadSlotPolicy::kSubstitute;
  TriedSamples tried;
  const auto wanted = [&](std::int64_t position) {
    if (position == dataset.size()) return false;
    if (!substitutes || tried.good.size() + tried.bad.size() < static_cast<std::size_t>(count)) return position < count;
    return static_cast<std::int64_t>(tried.good.size()) < count && tried.bad.size() < kBadMax;
  };
  bool goes_on = true;
  for (std::int64_t position = 0; goes_on && wanted(position); ++position) {
    const std::int64_t sample = *order.sample_at(position);
    try {
      goes_on = trial(sample, position);
      tried.good.push_back(sample);
    } catch (const Error& error) {
      const bool is_bad = error.kind() == ErrorKind::kBadSample || error.kind() == ErrorKind::kLimit;
      if (!is_bad || options.bad_sample == BadSlotPolicy::kFail) throw error.with_context(dataset.describe(sample));
      tried.bad.push_back(told(dataset, sample, error));
    }
  }
  if (tried.good.empty()) {
    const BadSample& first = tried.bad.front();
    fail(ErrorKind::kBadSample, "none of the samples that were tried ({}) is good; the first, {}, sample '{}': {}",
         tried.bad.size(), first.shard, first.key, first.reason);
  }
  return tried;
}

}  // namespace stoker
