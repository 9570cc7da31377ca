#include "stoker/tuner/pipeline_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/base/words.h"
#include "stoker/capacity/rates.h"
#include "stoker/tuner/statistics.h"

namespace stoker {
namespace {

constexpr double kInfinite = kUnlimited;
constexpr std::size_t kWindowsMax = 48;    // from which costs are learned
constexpr double kHeldShort = 0.15;        // a rate this much below what explains it is held by something else
constexpr double kNoise = 0.03;            // deviation of a rate from its explanation that needs no reason
constexpr double kHiddenDoubtful = 0.03;   // what each hidden part must explain to count at all
constexpr double kExplainedAlike = 0.06;   // explanations that differ by much more than this are not equally likely
constexpr double kCostError = 0.05;        // of a stage's seconds in a window, as a logarithm
constexpr double kContentionDoubtful = 2;  // what contention must explain, in squares of such errors

bool known(double value) { return !std::isnan(value); }

double upper_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Corrects unseen values by half as much as seen ones.
double common_shift(const std::vector<double>& logs) {
  double sum = 0;
  int count = 0;
  for (const double log : logs) {
    if (!known(log)) continue;
    sum += log;
    ++count;
  }
  return count == 0 ? 0 : 0.5 * sum / count;
}

constexpr Word<Resource> kResourceWords[] = {{Resource::kCpu, "the CPU"},
                                             {Resource::kStore, "reading"},
                                             {Resource::kCopy, "the copy to the device"},
                                             {Resource::kDevice, "the device's kernels"},
                                             {Resource::kConsumer, "the training itself"},
                                             {Resource::kOther, "something other than threads"}};

}  // namespace

std::string_view word_of(Resource resource) { return word_of(kResourceWords, resource); }

Resource PipelineCapacity::limit() const {
  return static_cast<Resource>(std::min_element(rates.begin(), rates.end()) - rates.begin());
}

double PipelineCapacity::throughput() const { return throughput_of(rates); }

// Optimistic, so that an index, or a depth, is thought good until it was tried.
constexpr PipelineModel::Hidden PipelineModel::kNothingHidden = {0, 1, 60e9, 0, 1e12, 0};

PipelineModel::PipelineModel(const TunedWorkload& workload)
    : workload_(workload),
      stages_(all_stages(workload)),
      costs_{{.cpu_logs = std::vector<double>(stages_.size(), std::nan(""))}},
      device_logs_(stages_.size(), std::nan("")),
      explanations_{{0, kNothingHidden, std::vector<double>(stages_.size(), kInfinite), 1}} {}

void PipelineModel::learn(const KnobSetting& knobs, const TunerWindow& window, const std::vector<Rate>& rates) {
  if (seen_.size() == kWindowsMax) seen_.erase(seen_.begin());
  seen_.push_back({knobs, cost_logs(knobs, window),
                   (window.seconds - window.wait_s) * workload_.batch / static_cast<double>(window.samples)});
  learn_costs();
  learn_step();
  explain(rates);
}

std::vector<double> PipelineModel::cost_logs(const KnobSetting& knobs, const TunerWindow& window) const {
  std::vector<double> logs(stages_.size(), std::nan(""));
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const TunedStage& stage = stages_[i];
    const bool on_cpu = PipelineModel::on_cpu(i, knobs.transfer_index);
    const double stated = on_cpu ? stage.cpu_s : stage.device_s.value_or(0);
    for (const TunerWindow::Stage& measured : window.stages) {
      if (measured.name != stage.name || (measured.side == StageSide::kCpu) != on_cpu) continue;
      if (stated <= 0 || measured.seconds <= 0) continue;
      logs[i] = std::log(measured.seconds / static_cast<double>(window.samples) / stated);
    }
  }
  return logs;
}

double PipelineModel::cost_off(const KnobSetting& knobs, const TunerWindow& window) const {
  const Costs& costs = costs_[explanations_[likeliest_].costs];
  const std::vector<double> logs = cost_logs(knobs, window);
  double most = 0;
  for (const StageSide side : {StageSide::kCpu, StageSide::kDevice}) {
    const std::vector<double>& expected = side == StageSide::kCpu ? costs.cpu_logs : device_logs_;
    double least = kInfinite;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      if (on_cpu(i, knobs.transfer_index) != (side == StageSide::kCpu) || !known(logs[i]) || !known(expected[i]))
        continue;
      const double off = logs[i] - expected[i] - (side == StageSide::kCpu ? contended_log(costs, knobs.threads) : 0);
      if (std::abs(off) < std::abs(least)) least = off;
    }
    if (least != kInfinite && std::abs(least) > std::abs(most)) most = least;
  }
  return most;
}

void PipelineModel::forget_windows() {
  seen_.clear();
  explain({});
}

void PipelineModel::learn_costs() {
  constexpr double kAnyCost = 3, kNearStated = 0.1;  // of what stages really cost against what was stated
  const std::vector<double> before = costs_.front().cpu_logs;
  costs_.clear();
  costs_.push_back(fit_costs(Contention::kLinear, kAnyCost));
  for (std::size_t i = 0; i < before.size(); ++i) {
    double& log = costs_.front().cpu_logs[i];
    if (!known(log)) log = before[i];
  }
  for (const Contention contention : {Contention::kLinear, Contention::kWall}) {
    Costs costs = fit_costs(contention, kNearStated);
    if (costs.amount > 0) costs_.push_back(std::move(costs));
  }
  learn_device_costs();
}

// Stages have costs of their own; what gets dearer with the threads does so for all of them. The contention is the one
// that leaves the least unexplained.
PipelineModel::Costs PipelineModel::fit_costs(Contention contention, double stated_error) const {
  static constexpr double kParts[] = {0, 0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6};
  std::vector<double> amounts(std::begin(kParts), std::end(kParts));
  if (contention == Contention::kWall) {
    amounts = {0};
    for (double threads = 1; threads < threads_max(workload_.cores); threads *= 1.2) amounts.push_back(threads);
  }
  const std::size_t stages = stages_.size();
  Costs best;
  double least = kInfinite;
  for (const double amount : amounts) {
    Costs costs{contention, amount, std::vector<double>(stages, std::nan(""))};
    double error = amount > 0 ? kContentionDoubtful : 0;
    for (std::size_t i = 0; i < stages; ++i) {
      double sum = 0, squares = 0;
      int count = 0;
      for (const Seen& seen : seen_) {
        if (!on_cpu(i, seen.knobs.transfer_index) || !known(seen.cost_logs[i])) continue;
        const double log = seen.cost_logs[i] - contended_log(costs, seen.knobs.threads);
        sum += log;
        squares += log * log;
        ++count;
      }
      if (count == 0) continue;
      // The mean, drawn a little to what was stated.
      const double drawn = square(kCostError / stated_error);
      const double log = costs.cpu_logs[i] = sum / (count + drawn);
      error += (squares - 2 * log * sum + count * log * log) / square(kCostError) + square(log / stated_error);
    }
    if (error >= least) continue;
    least = error;
    best = std::move(costs);
  }
  return best;
}

void PipelineModel::learn_device_costs() {
  for (std::size_t i = 0; i < device_logs_.size(); ++i) {
    std::vector<double> logs;
    for (const Seen& seen : seen_) {
      if (!on_cpu(i, seen.knobs.transfer_index) && known(seen.cost_logs[i])) logs.push_back(seen.cost_logs[i]);
    }
    if (!logs.empty()) device_logs_[i] = upper_median(std::move(logs));
  }
}

void PipelineModel::learn_step() {
  double least = kInfinite;
  const auto try_parts = [&](double share, double crowding, double served) {
    std::vector<double> own;
    for (const Seen& seen : seen_) {
      const double kernels_s = workload_.batch * device_s(seen.knobs.transfer_index);
      own.push_back(std::max(seen.step_s - share * kernels_s, 0.05 * seen.step_s) /
                    (1 + crowding * std::max(0.0, seen.knobs.threads - served)));
    }
    const double middle = upper_median(own);
    double error = square(0.01 * (share - 0.5)) + square(0.01 * crowding * threads_max(workload_.cores) / 0.1);
    for (const double each : own) error += std::min(square(std::log(each / middle)), 0.01);
    if (error >= least) return;
    least = error;
    kernel_share_ = share;
    step_crowding_ = crowding;
    step_served_ = served;
    own_step_s_ = middle;
  };
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    for (const double crowding : {0.0, 0.05, 0.1, 0.2, 0.3, 0.6, 1.2}) {
      for (const double served : {1.0, 0.25 * workload_.cores, 0.5 * workload_.cores}) {
        try_parts(share, crowding / threads_max(workload_.cores), served);
        if (crowding == 0) break;
      }
    }
  }
}

// Several explanations are kept side by side: the tuner's next trials tell which of them holds.
void PipelineModel::explain(const std::vector<Rate>& rates) {
  struct Hypothesis {
    std::span<const HiddenPart> parts;  // what comes first explains as much as it can
    double read_crowding = 0;           // to begin with
  };
  static constexpr HiddenPart kOverhead[] = {&Hidden::overhead_s};
  static constexpr HiddenPart kCopying[] = {&Hidden::copy_bytes_per_s};
  static constexpr HiddenPart kReading[] = {&Hidden::reads_per_s, &Hidden::read_latency_s};
  static constexpr HiddenPart kLatency[] = {&Hidden::read_latency_s, &Hidden::reads_per_s};
  static constexpr HiddenPart kDeepReading[] = {&Hidden::reads_per_s, &Hidden::read_crowding};
  static constexpr HiddenPart kCrowding[] = {&Hidden::crowded_worth};
  static constexpr HiddenPart kAll[] = {&Hidden::crowded_worth,  &Hidden::copy_bytes_per_s, &Hidden::reads_per_s,
                                        &Hidden::read_latency_s, &Hidden::read_crowding,    &Hidden::overhead_s};
  static constexpr HiddenPart kAllAgain[] = {&Hidden::overhead_s, &Hidden::read_latency_s, &Hidden::reads_per_s,
                                             &Hidden::copy_bytes_per_s, &Hidden::crowded_worth};
  static constexpr Hypothesis kHypotheses[] = {
      {{}}, {kOverhead}, {kCopying}, {kReading}, {kLatency}, {kDeepReading, 0.1}, {kCrowding}, {kAll}, {kAllAgain}};

  rates_.clear();
  for (const Rate& rate : rates) {
    // What settings with as many threads and the same index share counts once; what is not known for sure, less.
    const auto alike = std::count_if(rates.begin(), rates.end(), [&](const Rate& other) {
      return other.knobs.threads == rate.knobs.threads && other.knobs.transfer_index == rate.knobs.transfer_index;
    });
    const double sure = square(kNoise) / (square(kNoise) + square(rate.log.sd));
    rates_.push_back({rate, std::exp(rate.log.mean), sure / static_cast<double>(alike), {}});
    for (const Costs& costs : costs_) rates_.back().shown.push_back(shown_capacity(rate.knobs, costs));
  }
  explanations_.clear();
  std::vector<double> errors;
  for (std::size_t costs = 0; costs < costs_.size(); ++costs) {
    for (const Hypothesis& hypothesis : kHypotheses) {
      if (costs > 0 && hypothesis.parts.size() == 1) continue;  // contention is a part by itself
      Explanation explanation{costs, kNothingHidden, {}, 0};
      explanation.hidden.read_crowding = hypothesis.read_crowding;
      fit(hypothesis.parts, explanation);
      explanation.held_at = held_at(explanation);
      errors.push_back(unexplained(explanation) + (costs > 0 ? kHiddenDoubtful : 0));
      explanations_.push_back(std::move(explanation));
    }
  }
  likeliest_ = static_cast<std::size_t>(std::min_element(errors.begin(), errors.end()) - errors.begin());
  double sum = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    explanations_[i].likelihood = std::exp((errors[likeliest_] - errors[i]) / kExplainedAlike);
    sum += explanations_[i].likelihood;
  }
  for (Explanation& explanation : explanations_) explanation.likelihood /= sum;
}

// One part after another, twice: the next part need not explain what one part explains.
void PipelineModel::fit(std::span<const HiddenPart> parts, Explanation& explanation) const {
  double fastest = 0;
  for (const ToExplain& rate : rates_) fastest = std::max(fastest, rate.rate);
  if (fastest == 0) return;
  const Hidden least = {0.01 / fastest, 1, 60e9, 0.01 / fastest, 10 * fastest, 0.001};
  const Hidden most = {
      0.3 * threads_max(workload_.cores) / fastest, 0.05, 0.3e9, workload_.io_depth_max / fastest, 0.9 * fastest, 1};
  constexpr int kRounds = 2, kSteps = 40;
  for (int round = 0; round < kRounds; ++round) {
    for (const HiddenPart part : parts) {
      Explanation tried = explanation;
      double least_error = unexplained(explanation);
      for (int i = 0; i <= kSteps; ++i) {
        tried.hidden.*part = least.*part * std::pow(most.*part / least.*part, static_cast<double>(i) / kSteps);
        const double enough = least_error - 1e-9;
        const double error = unexplained(tried, enough);
        if (error >= enough) continue;
        least_error = error;
        explanation.hidden.*part = tried.hidden.*part;
      }
    }
  }
}

// How far the rates that were seen are from what these and the rest permit; and how many of these are taken to matter.
double PipelineModel::unexplained(const Explanation& explanation, double enough) const {
  double error = 0;
  for (const HiddenPart part : {&Hidden::overhead_s, &Hidden::crowded_worth, &Hidden::copy_bytes_per_s,
                                &Hidden::read_latency_s, &Hidden::reads_per_s, &Hidden::read_crowding}) {
    if (explanation.hidden.*part != kNothingHidden.*part) error += kHiddenDoubtful;
  }
  for (const ToExplain& rate : rates_) {
    if (error >= enough) break;
    const PipelineCapacity capacity = this->capacity(rate, explanation);
    const double off = std::log(rate.rate / capacity[capacity.limit()]);
    // A slower rate may have other reasons; a faster rate contradicts the explanation.
    error += rate.weight * (off < 0 ? std::clamp(-off - kNoise, 0.0, 0.5) : 2 * std::max(0.0, off - kNoise));
  }
  return error;
}

std::vector<double> PipelineModel::held_at(const Explanation& explanation) const {
  std::vector<double> held(stages_.size(), kInfinite);
  std::vector<double> fastest(held.size(), 0), could(held.size(), 0);
  for (const ToExplain& rate : rates_) {
    if (rate.seen.wait_share < kWaitsLittle || rate.seen.log.sd > kHeldShort) continue;
    const auto index = static_cast<std::size_t>(rate.seen.knobs.transfer_index);
    const PipelineCapacity capacity = this->capacity(rate, explanation);
    fastest[index] = std::max(fastest[index], rate.rate);
    could[index] = std::max(could[index], capacity.throughput());
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (fastest[i] > 0 && fastest[i] < could[i] * (1 - kHeldShort)) held[i] = fastest[i];
  }
  return held;
}

PipelineCapacity PipelineModel::capacity(const ToExplain& rate, const Explanation& explanation) const {
  PipelineCapacity capacity = rate.shown[explanation.costs];
  add_hidden(explanation.hidden, rate.seen.knobs, capacity);
  return capacity;
}

double PipelineModel::cpu_s(const KnobSetting& knobs, const Costs& costs) const {
  const double shift = common_shift(costs.cpu_logs);
  double sum = 0;
  for (std::size_t i = 0; on_cpu(i, knobs.transfer_index); ++i) {
    sum += stages_[i].cpu_s * std::exp(known(costs.cpu_logs[i]) ? costs.cpu_logs[i] : shift);
  }
  return sum * std::exp(contended_log(costs, knobs.threads));
}

double PipelineModel::contended_log(const Costs& costs, int threads) {
  if (costs.amount == 0) return 0;
  if (costs.contention == Contention::kLinear) return std::log1p(costs.amount * (threads - 1));
  return 0.125 * std::log1p(std::pow(threads / costs.amount, 8));
}

double PipelineModel::device_s(int transfer_index) const {
  const double shift = common_shift(device_logs_);
  double sum = 0;
  for (std::size_t i = static_cast<std::size_t>(transfer_index) + 1; i < stages_.size(); ++i) {
    sum += stages_[i].device_s.value_or(0) * std::exp(known(device_logs_[i]) ? device_logs_[i] : shift);
  }
  return sum;
}

std::optional<double> PipelineModel::step_s(const KnobSetting& knobs) const {
  if (!own_step_s_) return std::nullopt;
  return *own_step_s_ * (1 + step_crowding_ * std::max(0.0, knobs.threads - step_served_)) +
         kernel_share_ * workload_.batch * device_s(knobs.transfer_index);
}

PipelineCapacity PipelineModel::capacity(const KnobSetting& knobs) const { return capacity(knobs, likeliest_); }

PipelineCapacity PipelineModel::capacity(const KnobSetting& knobs, std::size_t explanation) const {
  const Explanation& by = explanations_[explanation];
  PipelineCapacity capacity = shown_capacity(knobs, costs_[by.costs]);
  add_hidden(by.hidden, knobs, capacity);
  capacity[Resource::kOther] = by.held_at[static_cast<std::size_t>(knobs.transfer_index)];
  return capacity;
}

PipelineCapacity PipelineModel::capacity_at_most(const KnobSetting& knobs) const {
  return shown_capacity(knobs, costs_[explanations_[likeliest_].costs]);
}

PipelineCapacity PipelineModel::shown_capacity(const KnobSetting& knobs, const Costs& costs) const {
  PipelineCapacity capacity;
  capacity.rates.fill(kInfinite);
  const double ahead = share_by_prefetch(knobs.prefetch);
  const double cpu_s = this->cpu_s(knobs, costs), device_s = this->device_s(knobs.transfer_index);
  capacity[Resource::kCpu] = rate_of_workers(knobs.threads, cpu_s) * ahead;
  if (device_s > 0) capacity[Resource::kDevice] = ahead / device_s;
  if (const std::optional<double> step = step_s(knobs)) {
    capacity[Resource::kConsumer] = rate_of_steps(workload_.batch, *step);
  }
  return capacity;
}

void PipelineModel::add_hidden(const Hidden& hidden, const KnobSetting& knobs, PipelineCapacity& capacity) const {
  const int half = std::max(1, workload_.cores / 2);
  const double each = worth_of_threads(knobs.threads, half, hidden.crowded_worth) / knobs.threads;
  capacity[Resource::kCpu] = each / (1 / capacity[Resource::kCpu] + hidden.overhead_s / knobs.threads);
  // Of reads, one for each sample.
  capacity[Resource::kStore] =
      std::min(rate_of_latency(knobs.io_depth, hidden.read_latency_s, 1),
               rate_of_requests(crowded_requests_per_s(hidden.reads_per_s, hidden.read_crowding, knobs.io_depth), 1));
  const double bytes = stages_[static_cast<std::size_t>(knobs.transfer_index)].bytes_out;
  capacity[Resource::kCopy] = rate_of_bytes(hidden.copy_bytes_per_s, bytes);
}

}  // namespace stoker
