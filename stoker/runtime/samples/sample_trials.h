// The first good samples of a data set, for commands that show a few of them: bad samples are reported and do not end
// the command.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "stoker/format/bad_sample.h"
#include "stoker/format/dataset.h"
#include "stoker/runtime/bad_slot_policy.h"

namespace stoker {

struct TrialOptions {
  std::uint64_t seed = 0;
  std::int64_t count = 1;
  /// Substitute: the next sample of the order replaces a bad one; skip: there is one sample fewer; fail: a bad sample
  /// is an error.
  BadSlotPolicy bad_sample = BadSlotPolicy::kSubstitute;
};

struct TriedSamples {
  std::vector<std::int64_t> good;  // in the order of epoch 0, a global one
  std::vector<BadSample> bad;
};

/// Uses a sample at a position of epoch 0; returns whether another should follow. Throws kBadSample or kLimit for a bad
/// one.
using SampleTrial = std::function<bool(std::int64_t sample, std::int64_t position)>;

/// Tries samples from the epoch's first on until `count` were good, or the trial has enough. Throws kBadSample if no
/// sample is good, or if one is bad and the policy is to fail, and everything that the trial throws; all errors name
/// the sample.
TriedSamples try_samples(const Dataset& dataset, const TrialOptions& options, const SampleTrial& trial);

}  // namespace stoker
