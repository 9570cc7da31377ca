#include "stoker/doctor/probe/cpu_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/machine.h"
#include "stoker/doctor/probe/figure_of.h"
#include "stoker/format/dataset_views.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/probe/core_probe.h"
#include "stoker/runtime/probe/function_time.h"

namespace stoker {
namespace {

constexpr int kPrefetchScaling = 4;
constexpr double kBatchS = 0.1;  // of all threads, at most
constexpr double kWarmS = 0.3;
// All samples are then in the cache, but for a few.
constexpr std::int64_t kRoundsBefore = 3;

constexpr double kIdleMost = 0.05;  // of threads that do not wait for their data

constexpr int kWindows = 5;
// Of a control group's periods, which last a tenth of a second, some.
constexpr double kWindowS = 0.8, kWindowQuickS = 0.4;

/// 1, 2, 4 and so on, and all that a core is there for.
std::vector<int> thread_counts(double cores) {
  const int all = std::max(static_cast<int>(std::ceil(cores)), 1);
  std::vector<int> counts;
  for (int threads = 1; threads < all; threads *= 2) counts.push_back(threads);
  counts.push_back(all);
  return counts;
}

struct TimedLoader {
  CpuFacts::Scaling scaling;
  double idle = 0;  // of the workers' time
};

TimedLoader time_loader(const std::shared_ptr<const Dataset>& dataset, const Plan& plan, const LoaderOptions& options,
                        double core_s, int threads, CacheKind cache, const ProbeLimits& limits) {
  const std::int64_t samples = dataset->size();
  const auto affordable = static_cast<std::int64_t>(kBatchS * threads / std::max(core_s, 1e-6));
  const std::int64_t batch = std::clamp<std::int64_t>(affordable, 1, std::max(options.batch, 1));
  Loader loader(dataset, plan.recipe(),
                {.batch = static_cast<int>(batch),
                 .seed = options.seed,
                 .threads = threads,
                 .prefetch = kPrefetchScaling,
                 .tune = TuneMode::kOff,
                 .memory = usable_memory(),
                 .limits = options.limits,
                 .launched = false,
                 .tail = Tail::kWrap,
                 .cache = cache,
                 .bad_sample = options.bad_sample,
                 .keep_step = false});
  const auto take = [&] {
    limits.check();
    BatchPtr taken = loader.next();
    if (!taken) taken = loader.next();  // the next epoch's first
  };
  const std::int64_t began_ns = now_ns();
  for (std::int64_t taken = 0; taken < kRoundsBefore * samples || now_ns() - began_ns < limits.ns(kWarmS, kWarmS);
       taken += batch)
    take();
  CpuFacts::Scaling scaling{.threads = threads};
  std::vector<double> rates;
  std::int64_t count = 0;
  const Metrics before = loader.metrics();
  const std::int64_t cpu_before_ns = process_cpu_ns();
  for (int i = 0; i < kWindows; ++i) {
    const std::int64_t window_ns = limits.ns(kWindowS, kWindowQuickS), since_ns = now_ns();
    std::int64_t in_window = 0;
    do {
      take();
      in_window += batch;
    } while (now_ns() - since_ns < window_ns);
    rates.push_back(static_cast<double>(in_window) * 1e9 / static_cast<double>(now_ns() - since_ns));
    count += in_window;
  }
  const MetricsWindow window(before, loader.metrics());
  const double cpu_s = static_cast<double>(process_cpu_ns() - cpu_before_ns) * 1e-9 + seconds_elsewhere(plan, window);
  scaling.cpu_s = cpu_s / static_cast<double>(count);
  scaling.samples_per_s = figure_of(std::move(rates));
  const double idle_s = window.seconds_of(Metric::kWorkerIdleNs), busy_s = window.seconds_of(Metric::kWorkerBusyNs);
  return {std::move(scaling), idle_s / std::max(idle_s + busy_s, 1e-9)};
}

/// With what reading costs the cores as long as the page cache has the data; without reading where threads would wait
/// for it.
CpuFacts::Scaling measure_scaling(const std::shared_ptr<const Dataset>& dataset, const Plan& plan,
                                  const LoaderOptions& options, double core_s, int threads, const ProbeLimits& limits) {
  const bool is_local = dataset->meters().empty();
  const auto time = [&](CacheKind cache) {
    return time_loader(dataset, plan, options, core_s, threads, cache, limits);
  };
  if (is_local) {
    TimedLoader timed = time(CacheKind::kNone);
    if (timed.idle < kIdleMost) return std::move(timed.scaling);
  }
  return time(CacheKind::kRam).scaling;
}

BadFacts bad_of(const TriedSamples& samples, const Quarantine* listed) {
  BadFacts facts{.looked = std::ssize(samples.good) + std::ssize(samples.bad)};
  for (const BadSample& bad : samples.bad) {
    if (listed && listed->contains(bad)) {
      ++facts.listed;
    } else if (facts.bad++ == 0) {
      facts.example = fmt::format("{}, sample '{}': {}", bad.shard, bad.key, bad.reason);
    }
  }
  return facts;
}

}  // namespace

CpuProbe probe_cpu(const std::shared_ptr<const Dataset>& dataset, const Plan& plan, LoaderOptions loader,
                   const Quarantine* listed, double cores, const ProbeLimits& limits) {
  limits.check();
  if (loader.bad_sample == BadSlotPolicy::kFail) loader.bad_sample = BadSlotPolicy::kSubstitute;
  CoreCosts core = measure_core(dataset, plan,
                                {.seed = loader.seed,
                                 .batch = loader.batch > 0 ? loader.batch : CoreProbeOptions().batch,
                                 .prefetch = loader.prefetch,
                                 .bad_sample = loader.bad_sample,
                                 .limits = loader.limits,
                                 .tries_index = true});
  CpuProbe probe;
  CpuFacts& facts = probe.facts;
  const double core_s = core.cpu_us * 1e-6;
  facts.other_s = core_s;
  for (std::size_t i = 0; i < core.stages.size(); ++i) {
    const StageCost& cost = core.stages[i];
    facts.stages.push_back({.name = plan.stages()[i].name,
                            .kind = std::string(kStages[i % kStages.size()].name),
                            .cpu_s = cost.cpu_us * 1e-6,
                            .bytes_out = cost.bytes_out});
    facts.other_s -= cost.cpu_us * 1e-6;
    probe.bytes_out += cost.bytes_out;
  }
  // Stages are timed by the wall, what is beside them by the CPU.
  facts.other_s = std::max(facts.other_s, 0.0);
  for (double& us : core.each_us) us *= 1e-6;
  facts.sample_s = quantiles_of(std::move(core.each_us), kQuantiles);
  facts.entry_point_share = core.indexed;
  facts.indexed_decode = core.indexed_decode;
  probe.bad_samples = bad_of(core.samples, listed);
  probe.samples = std::move(core.samples.good);

  std::vector<std::int64_t> sorted = probe.samples;
  std::sort(sorted.begin(), sorted.end());
  const std::shared_ptr<const Dataset> part = subset(dataset, std::move(sorted));
  for (const int threads : thread_counts(cores)) {
    facts.scaling.push_back(measure_scaling(part, plan, loader, core_s, threads, limits));
  }
  return probe;
}

}  // namespace stoker
