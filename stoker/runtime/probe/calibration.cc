#include "stoker/runtime/probe/calibration.h"

#include <algorithm>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr int kSlots = 16;       // each is tried alone, and then twice at every index: 144 samples
constexpr int kCandidates = 56;  // among which the slots' samples are sought: 184 samples at most
constexpr std::int64_t kTimeNs = 2'000'000'000;
constexpr std::int64_t kTimeToFindNs = kTimeNs / 8;  // about as long as each of the others

struct Found {
  std::vector<std::int64_t> samples;
  std::int64_t each_ns = 0;  // to make one, on the CPU alone
};

// Samples that can be decoded, as many as the time permits.
Found find_samples(const Dataset& dataset, const Plan& plan, const CalibrationOptions& options) {
  SampleReader reader(dataset, plan);
  CpuExecutor executor(plan, options.limits, options.gate);
  Found found;
  const std::int64_t began = now_ns();
  for (const std::int64_t sample : first_samples(dataset, options.seed, kCandidates)) {
    if (options.stop() || static_cast<int>(found.samples.size()) == kSlots) break;
    try {
      const SampleInput input = reader.input(sample, {.seed = options.seed, .epoch = 0, .position = 0});
      const std::int64_t read_at = now_ns();
      run_one(executor, input);
      found.each_ns += now_ns() - read_at;
      found.samples.push_back(sample);
    } catch (const Error& error) {
      log(LogLevel::kDebug, "not calibrated with a sample: {}", error.message());
    }
    if (options.gate) options.gate->drop_too_much(executor);
    if (now_ns() - began > kTimeToFindNs) break;
  }
  if (!found.samples.empty()) found.each_ns /= static_cast<std::int64_t>(found.samples.size());
  return found;
}

}  // namespace

std::optional<std::vector<CrossingCost>> calibrate(const Dataset& dataset, const Plan& plan, const DeviceSide& side,
                                                   const CalibrationOptions& options) {
  Found found = find_samples(dataset, plan, options);
  if (found.samples.empty() || options.stop()) return std::nullopt;
  constexpr int kPasses = 2 * (kTransferIndexMax + 1);
  const std::int64_t affordable = (kTimeNs - kTimeToFindNs) / kPasses / std::max<std::int64_t>(found.each_ns, 1);
  const std::size_t slots = std::clamp<std::size_t>(static_cast<std::size_t>(affordable), 1, found.samples.size());
  found.samples.resize(slots);
  const int count = static_cast<int>(slots);
  if (!options.lend(loader_batch_bytes(plan.outputs(), count, side))) {
    log(LogLevel::kInfo, "the transfer index is not tuned: the memory budget leaves no room to measure {}",
        counted(count, "sample"));
    return std::nullopt;
  }
  std::vector<CrossingCost> costs;
  try {
    CrossingProbe probe(dataset, plan, side, count, options.gate, options.limits);
    for (int index = 0; index <= kTransferIndexMax; ++index) {
      if (options.stop()) return std::nullopt;
      costs.push_back(probe.measure(index, found.samples, options.seed));
      if (!costs.back().device_us) return std::nullopt;
    }
  } catch (const Error& error) {
    log(LogLevel::kInfo, "the transfer index is not tuned: {}", error.message());
    return std::nullopt;
  }
  return costs;
}

}  // namespace stoker
