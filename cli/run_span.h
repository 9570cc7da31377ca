// The batches that one call of `run` takes: from the beginning, or from a state's position.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/runtime/loader.h"

namespace stoker {

/// As the user gave them.
struct RunLimits {
  std::optional<std::int64_t> epochs;   // --epochs: the absolute end
  std::optional<std::int64_t> batches;  // --batches: of this call
};

inline constexpr std::int64_t kEpochsMax = 1'000'000'000;  // so that no count of samples overflows

/// The first epoch after a call that begins at `from`. If the user gave no end: --batches continues across as many
/// epochs as needed, and a call without it ends with the epoch in which it begins.
std::int64_t epochs_end(const RunLimits& limits, const LoaderPosition& from);

/// The most batches that the call takes; none if `from` is after its end.
std::int64_t batches_to_take(const RunLimits& limits, const LoaderPosition& from, std::int64_t batches_per_epoch);

/// One sentence for a call of a rank that has no batch in any epoch: the tail is kept, and others have all samples.
std::string no_batches(const RankSlice& slice, std::int64_t samples);

/// One sentence that says why a call that resumes from a state has nothing to do, and which options would continue.
std::string nothing_to_take(const RunLimits& limits, const LoaderPosition& from, std::int64_t batches_per_epoch,
                            const std::string& state);

}  // namespace stoker
