#include "stoker/runtime/probe/core_probe.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/machine.h"
#include "stoker/format/dataset_views.h"
#include "stoker/plan/data_check.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/probe/function_time.h"
#include "stoker/runtime/report/metrics_window.h"
#include "stoker/runtime/samples/sample_reader.h"

namespace stoker {
namespace {

// As many samples as fit into this time, and no more: their mean is then that of all of them within a few percent.
constexpr std::int64_t kSamplesMax = 4096, kSamplesMin = 4;
constexpr std::int64_t kTrialNs = 600'000'000;
// Then a loader runs over them again and again. Its first batches find their memory new, and queues empty.
constexpr int kBatchesBefore = 4;
constexpr std::int64_t kRunNs = 1'200'000'000, kBatchNs = 150'000'000;
constexpr std::int64_t kSlotsEnough = 20'000;

struct StagesTried {
  TriedSamples samples;
  std::vector<StageCost> costs;  // of each stage alone
  double indexed = 0;
  double each_ns = 0;
  std::vector<double> cpu_ns;  // of each sample
  double indexed_decode = 0;
};

// Decodes samples without entry points, and with those that an index would have: all in one way and then all in the
// other, as a worker does, whose caches hold what it has just used.
class IndexTrial {
 public:
  IndexTrial(const Plan& plan, const DecodeLimits& limits) : plan_(plan), limits_(limits), decoder_(limits) {
    const auto& views = plan.views();
    const auto image =
        std::find_if(views.begin(), views.end(), [](const ViewPlan& view) { return view.kind == ViewKind::kImage; });
    if (image != views.end()) field_ = image->field;
  }

  /// Keeps the sample to try it.
  void add(const SampleInput& sample) {
    if (field_ < 0 || !sample.entry_points.empty() || kept_.size() == kTriedMost) return;
    const Bytes encoded = sample.fields[static_cast<std::size_t>(field_)];
    Kept kept{.sample = sample, .fields = {}, .windows = {}, .points = {}};
    if (!decoder_.decodes_cleanly(encoded, decoder_.read_facts(encoded), kept.points) || kept.points.empty()) return;
    for (const Bytes field : sample.fields) kept.fields.emplace_back(field.begin(), field.end());
    kept.windows.assign(sample.windows.begin(), sample.windows.end());
    kept_.push_back(std::move(kept));
  }

  /// Of decoding's time, what it takes with them; 0 if there are none that are used.
  double share() const {
    if (kept_.empty()) return 0;
    const double plain_us = decode_us(false);
    return plain_us > 0 ? decode_us(true) / plain_us : 0;
  }

 private:
  static constexpr std::size_t kTriedMost = 64;

  struct Kept {
    SampleInput sample;  // but for what it points to:
    std::vector<std::vector<std::uint8_t>> fields;
    std::vector<FieldWindow> windows;
    std::vector<std::uint8_t> points;
  };

  // Of the second time that all of them are decoded; 0 if entry points were not used.
  double decode_us(bool indexed) const {
    StageProbe probe(plan_, limits_);
    std::vector<Bytes> fields;
    double before_us = 0, both_us = 0;
    for (int pass = 0; pass < 2; ++pass) {
      before_us = both_us;
      for (const Kept& kept : kept_) {
        fields.assign(kept.fields.begin(), kept.fields.end());
        SampleInput sample = kept.sample;
        sample.fields = fields;
        sample.windows = kept.windows;
        if (indexed) sample.entry_points = kept.points, sample.entry_points_of = field_;
        probe.measure(sample);
      }
      const std::vector<StageCost> costs = probe.costs();
      both_us = 0;
      for (std::size_t i = 0; i < costs.size(); i += kStages.size()) both_us += (pass + 1) * costs[i].cpu_us;
    }
    return indexed && probe.indexed() < 1 ? 0 : both_us - before_us;
  }

  const Plan& plan_;
  const DecodeLimits limits_;
  AnyImageDecoder decoder_;
  int field_ = -1;
  std::vector<Kept> kept_;
};

// Finds good samples, brings them into the page cache, and measures how the stages share the time.
StagesTried try_stages(const Dataset& dataset, const Plan& plan, const CoreProbeOptions& options) {
  SampleReader reader(dataset, plan);
  StageProbe probe(plan, options.limits);
  IndexTrial index(plan, options.limits);
  const std::int64_t total = std::min(dataset.size(), kSamplesMax);
  const std::int64_t began = now_ns();
  std::int64_t sum_ns = 0, good = 0;
  StagesTried trial;
  trial.samples = try_samples(dataset, {.seed = options.seed, .count = total, .bad_sample = options.bad_sample},
                              [&](std::int64_t sample, std::int64_t position) {
                                const auto at = static_cast<std::uint64_t>(position);
                                const SampleInput input =
                                    reader.input(sample, {.seed = options.seed, .epoch = 0, .position = at});
                                const std::int64_t cpu_before_ns = process_cpu_ns();
                                probe.measure(input);
                                trial.cpu_ns.push_back(static_cast<double>(process_cpu_ns() - cpu_before_ns));
                                sum_ns += probe.last_ns();
                                if (options.tries_index) index.add(input);
                                ++good;
                                if (options.progress) options.progress(good, total);
                                return good < kSamplesMin || now_ns() - began < kTrialNs;
                              });
  trial.costs = probe.costs();
  trial.indexed = probe.indexed();
  trial.indexed_decode = index.share();
  trial.each_ns = static_cast<double>(sum_ns) / static_cast<double>(good);
  return trial;
}

std::shared_ptr<const Dataset> part_of(const std::shared_ptr<const Dataset>& dataset,
                                       std::vector<std::int64_t> samples) {
  std::sort(samples.begin(), samples.end());
  return subset(dataset, std::move(samples));
}

/// Divides the time that a loader measured for fused stages.
void scale(std::vector<StageCost>& costs, const StageRun& run, double cpu_us) {
  const auto each = [&](const auto& see) {
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const int stage = static_cast<int>(i % kStages.size());
      if (run.begin <= stage && stage < run.end) see(costs[i].cpu_us);
    }
  };
  double sum = 0;
  each([&](double us) { sum += us; });
  if (sum > 0) each([&](double& us) { us *= cpu_us / sum; });
}

/// The same in proportion, with this mean. The first ones found caches cold.
std::vector<double> scaled_to(double mean, std::vector<double> values) {
  constexpr std::ptrdiff_t kCold = 4;
  if (std::ssize(values) > 10 * kCold) values.erase(values.begin(), values.begin() + kCold);
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const double factor = sum > 0 ? mean * static_cast<double>(values.size()) / sum : 0;
  for (double& value : values) value *= factor;
  return values;
}

}  // namespace

CoreCosts measure_core(const std::shared_ptr<const Dataset>& dataset, const Plan& plan,
                       const CoreProbeOptions& options) {
  check_suits(plan, *dataset);
  StagesTried trial = try_stages(*dataset, plan, options);
  const auto samples = static_cast<std::int64_t>(trial.samples.good.size());
  const auto affordable = static_cast<std::int64_t>(static_cast<double>(kBatchNs) / std::max(trial.each_ns, 1.0));
  const std::int64_t batch = std::min({std::int64_t{options.batch}, samples, std::max<std::int64_t>(affordable, 1)});
  Loader loader(part_of(dataset, trial.samples.good), plan.recipe(),
                {.batch = static_cast<int>(batch),
                 .seed = options.seed,
                 .threads = 1,
                 .prefetch = options.prefetch,
                 .tune = TuneMode::kOff,
                 .memory = usable_memory(),
                 .limits = options.limits,
                 .launched = false,
                 .tail = Tail::kWrap,
                 .bad_sample = options.bad_sample,
                 .keep_step = false});
  const auto take = [&] {
    if (!loader.next()) loader.next();  // the next epoch's first
  };
  for (int i = 0; i < kBatchesBefore; ++i) take();
  const Metrics before = loader.metrics();
  const std::int64_t began_ns = now_ns(), cpu_before_ns = process_cpu_ns();
  // Whole epochs, as far as the time permits, so that each sample counts equally.
  const std::int64_t epoch = loader.batches_per_epoch();
  for (std::int64_t taken = 1;; ++taken) {
    take();
    const std::int64_t spent_ns = now_ns() - began_ns;
    const bool enough = spent_ns > kRunNs || taken * batch > kSlotsEnough;
    if ((enough && taken % epoch == 0) || spent_ns > 2 * kRunNs) break;
  }
  const MetricsWindow window(before, loader.metrics());
  const double cpu_s = static_cast<double>(process_cpu_ns() - cpu_before_ns) * 1e-9 + seconds_elsewhere(plan, window);

  const auto count = static_cast<double>(window[Metric::kSamples]);
  // Stages are timed by the wall clock, which includes time of other processes.
  const double us_each = 1e6 / count * std::min(1.0, cpu_s / window.seconds());
  CoreCosts costs;
  costs.stages = std::move(trial.costs);
  for (std::size_t run = 0; run < kStageRuns.size(); ++run) {
    const double busy_s = window.seconds_of(stage_ns(run));
    if (busy_s > 0) scale(costs.stages, kStageRuns[run], us_each * busy_s);
  }
  costs.cpu_us = 1e6 * cpu_s / count;
  costs.samples_per_s = 1e6 / costs.cpu_us;
  // Its counters tell whether a loader decodes by entry points, but not of how many images: some are under way.
  if (window[Metric::kEntryPointsUsed] > 0) costs.indexed = trial.indexed;
  costs.indexed_decode = trial.indexed_decode;
  costs.samples = std::move(trial.samples);
  costs.each_us = scaled_to(costs.cpu_us, std::move(trial.cpu_ns));
  return costs;
}

}  // namespace stoker
