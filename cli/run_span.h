// Which batches one call of `run` takes: from the beginning, or from where a state stands.
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

/// The first epoch that does not belong to a call that begins at `from`. Where the user gave none: --batches goes on
/// over as many epochs as it takes, and a call without it ends with the epoch that it begins in.
std::int64_t epochs_end(const RunLimits& limits, const LoaderPosition& from);

/// Batches that the call takes, at most; from a `from` that lies behind its end none.
std::int64_t batches_to_take(const RunLimits& limits, const LoaderPosition& from, std::int64_t batches_per_epoch);

/// Why a call that goes on from a state has nothing to take, and what would: one sentence.
std::string nothing_to_take(const RunLimits& limits, const LoaderPosition& from, std::int64_t batches_per_epoch,
                            const std::string& state);

}  // namespace stoker
