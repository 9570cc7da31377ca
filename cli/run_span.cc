#include "cli/run_span.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "stoker/base/units.h"

namespace stoker {

std::int64_t epochs_end(const RunLimits& limits, const LoaderPosition& from) {
  if (limits.epochs) return *limits.epochs;
  return limits.batches ? kEpochsMax : std::min(from.epoch, kEpochsMax - 1) + 1;
}

std::int64_t batches_to_take(const RunLimits& limits, const LoaderPosition& from, std::int64_t batches_per_epoch) {
  // A state counts global batches: with tail keep the last one may belong to other ranks alone.
  const std::int64_t seen = std::min(from.batch, batches_per_epoch);
  const std::int64_t left = batches_per_epoch * (epochs_end(limits, from) - from.epoch) - seen;
  return std::clamp<std::int64_t>(left, 0, limits.batches.value_or(std::numeric_limits<std::int64_t>::max()));
}

std::string no_batches(const RankSlice& slice, std::int64_t samples) {
  return fmt::format(
      "nothing to do: rank {} of {} has no batch, since with --tail keep the {} of an epoch all go to the ranks before "
      "it, in batches of {}; use a smaller batch, or --tail pad or wrap",
      slice.rank, slice.world, counted(samples, "sample"), slice.batch);
}

std::string nothing_to_take(const RunLimits& limits, const LoaderPosition& from, std::int64_t batches_per_epoch,
                            const std::string& state) {
  const bool at_end = from.batch >= batches_per_epoch;
  const std::string place =
      at_end ? fmt::format("at the end of epoch {}", from.epoch)
             : fmt::format("before batch {} of epoch {} (both counted from 0)", from.batch, from.epoch);
  const std::string given =
      limits.epochs ? fmt::format(", and --epochs {} stops after epoch {}", *limits.epochs, *limits.epochs - 1) : "";
  return fmt::format("nothing to do: '{}' is {}{}; --epochs {} continues to the end of epoch {}{}", state, place, given,
                     from.epoch + (at_end ? 2 : 1), from.epoch + (at_end ? 1 : 0),
                     limits.epochs ? "" : ", and --batches N for N batches");
}

}  // namespace stoker
