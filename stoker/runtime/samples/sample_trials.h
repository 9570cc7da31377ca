// The first samples of a data set that are any good, for commands that look at a few of them: bad ones are told, and do
// not end the command.
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
  /// Substitute: the next sample of the order takes a bad one's place; skip: there is one sample fewer; fail: it is an
  /// error.
  BadSlotPolicy bad_sample = BadSlotPolicy::kSubstitute;
};

struct TriedSamples {
  std::vector<std::int64_t> good;  // in the order of epoch 0, a global one
  std::vector<BadSample> bad;
};

/// Uses a sample at a position of epoch 0; whether there is to be another after it. Throws kBadSample or kLimit for a
/// bad one.
using SampleTrial = std::function<bool(std::int64_t sample, std::int64_t position)>;

/// Tries samples from the epoch's first on until `count` were good, or the trial has enough. Throws kBadSample where
/// not one is good, or one is bad and that is to fail; and what else the trial throws; all of them name the sample.
TriedSamples try_samples(const Dataset& dataset, const TrialOptions& options, const SampleTrial& trial);

}  // namespace stoker
