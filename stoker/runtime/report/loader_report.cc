#include "stoker/runtime/report/loader_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stoker/base/units.h"
#include "stoker/runtime/report/metrics_window.h"

namespace stoker {
namespace {

// Smaller reads of local storage keep it busy by their number, larger ones by their bytes: between what a solid-state
// disk (some 10 KiB) and a network disk or a disk array (some 100 KiB) give for the price of one operation.
constexpr double kReadBytesLarge = 128 << 10;

// A request that has its first byte only after this share of its time is slow to be answered, not slow to be sent.
constexpr double kLateFirstByte = 0.5;

// A consumer whose steps take less of the loop than this only takes batches.
constexpr double kStepShareLeast = 0.02;
// Nor has one a step whose steps take less than this: no training step is so short.
constexpr double kStepLeastS = 20e-6;

struct CauseWords {
  std::string_view name, words;
};
constexpr std::array<CauseWords, kWaitCauses> kCauses = {{{"storage", "storage"},
                                                          {"network", "the network"},
                                                          {"cpu decode", "CPU decode"},
                                                          {"cpu transform", "CPU transform"},
                                                          {"copy", "the copy"},
                                                          {"device", "the device"}}};

double ratio_or_0(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Of what workers did, the share that was decoding.
double decode_share(const MetricsWindow& window) {
  double decode_s = 0, all_s = 0;
  for (const Metric metric : {Metric::kFieldsNs, Metric::kMixNs, Metric::kFunctionNs}) {
    all_s += window.seconds_of(metric);
  }
  for (std::size_t run = 0; run < stage_run_count(StageSide::kCpu); ++run) {
    const double run_s = window.seconds_of(stage_ns(run));
    all_s += run_s;
    if (kStageRuns[run].begin == static_cast<int>(Stage::kDecode) && kStageRuns[run].end > kStageRuns[run].begin) {
      decode_s += run_s;
    }
  }
  return ratio_or_0(decode_s, all_s);
}

// Of the bytes that were fetched.
double remote_share(const MetricsWindow& window) {
  const auto fetched = static_cast<double>(window[Metric::kBytesFetched]);
  return ratio_or_0(fetched - static_cast<double>(window[Metric::kDiskBytes]), fetched);
}

std::array<double, kWaitCauses> shares_of_wait(const MetricsWindow& window, double seconds) {
  std::array<double, kWaitCauses> shares{};
  const auto at = [&](WaitCause cause) -> double& { return shares[static_cast<std::size_t>(cause)]; };
  const double reads_s = window.seconds_of(Metric::kConsumerWaitReadsNs);
  at(WaitCause::kNetwork) = reads_s * remote_share(window);
  at(WaitCause::kStorage) = reads_s - at(WaitCause::kNetwork);
  const double workers_s = window.seconds_of(Metric::kConsumerWaitWorkersNs);
  at(WaitCause::kCpuDecode) = workers_s * decode_share(window);
  at(WaitCause::kCpuTransform) = workers_s - at(WaitCause::kCpuDecode);
  // While the device is waited for its kernels run, or it waits for a copy itself.
  const double device_s = window.seconds_of(Metric::kConsumerWaitDeviceNs);
  at(WaitCause::kDevice) = device_s * std::min(ratio_or_0(window.seconds_of(Metric::kDeviceNs), seconds), 1.0);
  at(WaitCause::kCopy) = device_s - at(WaitCause::kDevice);
  double sum = 0;
  for (double& share : shares) sum += share = std::max(share, 0.0);
  for (double& share : shares) share = ratio_or_0(share, sum);
  return shares;
}

Limiter limiter_of_reads(const MetricsWindow& window, bool remote) {
  if (!remote) {
    const double bytes =
        ratio_or_0(static_cast<double>(window[Metric::kDiskBytes]), static_cast<double>(window[Metric::kDiskReads]));
    return bytes < kReadBytesLarge ? Limiter::kStorageRequests : Limiter::kStorageBandwidth;
  }
  const double read_s = ratio_or_0(window.seconds_of(Metric::kReadNs), static_cast<double>(window[Metric::kReads]));
  const bool late = window.seconds_of(Metric::kStoreFirstByteP50Ns) >= kLateFirstByte * read_s;
  return late ? Limiter::kStorageRequests : Limiter::kNetwork;
}

// What most of the wait was for. A device whose kernels are waited for has too much to do, as it has by the step.
Limiter limiter_of_wait(const MetricsWindow& window, const std::array<double, kWaitCauses>& shares) {
  const auto share = [&](WaitCause cause) { return shares[static_cast<std::size_t>(cause)]; };
  const double network = share(WaitCause::kNetwork), storage = share(WaitCause::kStorage);
  const double decode = share(WaitCause::kCpuDecode), transform = share(WaitCause::kCpuTransform);
  const double copy = share(WaitCause::kCopy), device = share(WaitCause::kDevice);
  const double most = std::max({network + storage, decode + transform, copy + device});
  if (most == network + storage) return limiter_of_reads(window, network > storage);
  if (most == decode + transform) return decode >= transform ? Limiter::kCpuDecode : Limiter::kCpuTransform;
  return copy >= device ? Limiter::kCopy : Limiter::kStep;
}

// What workers could carry if they never had to wait.
std::optional<Limit> limit_of_workers(const MetricsWindow& window, double samples_per_s) {
  const double busy_s = window.seconds_of(Metric::kWorkerBusyNs) - window.seconds_of(Metric::kMemoryWaitNs);
  const double all_s = window.seconds_of(Metric::kWorkerBusyNs) + window.seconds_of(Metric::kWorkerIdleNs);
  if (busy_s <= 0) return std::nullopt;
  return Limit{decode_share(window) >= 0.5 ? Limiter::kCpuDecode : Limiter::kCpuTransform,
               samples_per_s * all_s / busy_s};
}

bool is_of_workers(Limiter limiter) { return limiter == Limiter::kCpuDecode || limiter == Limiter::kCpuTransform; }

std::vector<Limit> limits_of(const MetricsWindow& window, const LoaderReport& report) {
  if (report.steps == 0 || report.seconds <= 0) return {};
  const double rate = report.samples_per_s();
  const bool fed = bound_class(report.gpu_idle()) == BoundClass::kFed;
  const Limiter limiter = fed ? Limiter::kStep : limiter_of_wait(window, report.wait_shares);
  std::vector<Limit> others;
  if (const std::optional<double> needed = report.samples_per_s_needed(); needed && limiter != Limiter::kStep) {
    others.push_back({Limiter::kStep, *needed});
  }
  if (const std::optional<Limit> workers = limit_of_workers(window, rate); workers && !is_of_workers(limiter)) {
    others.push_back(*workers);
  }
  std::sort(others.begin(), others.end(),
            [](const Limit& a, const Limit& b) { return a.samples_per_s < b.samples_per_s; });
  std::vector<Limit> limits = {{limiter, rate}};
  for (Limit& other : others) {
    other.samples_per_s = std::max(other.samples_per_s, rate);
    limits.push_back(other);
  }
  return limits;
}

std::string rate_text(double samples_per_s) {
  return samples_per_s < 100 ? fmt::format("{:.3g}", samples_per_s)
                             : format_count(static_cast<std::uint64_t>(samples_per_s + 0.5));
}

// "CPU decode 80%, storage 20%", the largest first; what rounds to nothing is left out.
std::string wait_text(const LoaderReport& report) {
  std::vector<std::pair<double, std::string_view>> shares;
  for (std::size_t i = 0; i < kWaitCauses; ++i) {
    if (report.wait_shares[i] >= 0.005) shares.emplace_back(report.wait_shares[i], kCauses[i].words);
  }
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [share, words] : shares) {
    text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : ", ", words, 100 * share);
  }
  return text;
}

nlohmann::ordered_json headspace_json(const std::optional<Headspace>& headspace) {
  if (!headspace) return nullptr;
  const StepSummary& alone = headspace->alone;
  const bool knows = headspace->with_loading_s > 0;
  return {{"steps", alone.count},
          {"step_s", alone.median_s},
          {"step_s_low", alone.low_s},
          {"step_s_high", alone.high_s},
          {"step_with_loading_s", knows ? nlohmann::ordered_json(headspace->with_loading_s) : nullptr},
          {"loading_s", knows ? nlohmann::ordered_json(headspace->loading_s()) : nullptr}};
}

}  // namespace

std::string_view name_of(WaitCause cause) { return kCauses[static_cast<std::size_t>(cause)].name; }

double LoaderReport::samples_per_s() const { return ratio_or_0(static_cast<double>(steps) * batch_samples, seconds); }

std::optional<double> LoaderReport::samples_per_s_needed() const {
  const double in_steps_s = seconds - wait_s;
  if (steps == 0 || in_steps_s <= kStepShareLeast * seconds) return std::nullopt;
  if (in_steps_s < kStepLeastS * static_cast<double>(steps)) return std::nullopt;
  return static_cast<double>(steps) * batch_samples / in_steps_s;
}

std::string LoaderReport::verdict() const {
  if (limits.empty()) return "No step has ended yet";
  if (samples_per_s_needed()) return verdict_sentence(gpu_idle(), limits.front(), next());
  return fmt::format("There is no step to feed: {} {} the limit", words_of(limits.front().limiter),
                     limits.front().limiter == Limiter::kStorageRequests ? "are" : "is");
}

std::string LoaderReport::line() const {
  std::string text;
  if (epoch) text += fmt::format("epoch {}: ", *epoch);
  text += fmt::format("{}, {} samples/s", counted(samples, "sample"), rate_text(samples_per_s()));
  if (samples_per_s_needed()) text += fmt::format(", {} per step", step_text(step_s()));
  return text + ". " + verdict() + ".";
}

std::string LoaderReport::text() const {
  std::string text = verdict() + ".\n";
  text +=
      fmt::format("{} in {}: {} samples/s", counted(samples, "sample"), step_text(seconds), rate_text(samples_per_s()));
  if (const std::optional<double> needed = samples_per_s_needed()) {
    text += fmt::format(" of the {} that steps of {} could take", rate_text(*needed), step_text(step_s()));
  }
  text += ".\n";
  if (wait_s > 0) text += fmt::format("Waited {}: {}.\n", step_text(wait_s), wait_text(*this));
  if (headspace) text += headspace->text() + "\n";
  return text;
}

nlohmann::ordered_json LoaderReport::json() const {
  const auto number_or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json json;
  json["verdict"] = verdict();
  json["fed"] = !limits.empty() && bound_class(gpu_idle()) == BoundClass::kFed;
  json["epoch"] = epoch ? nlohmann::ordered_json(*epoch) : nlohmann::ordered_json(nullptr);
  json["samples"] = samples;
  json["seconds"] = seconds;
  json["samples_per_s"] = samples_per_s();
  json["samples_per_s_needed"] = number_or_null(samples_per_s_needed());
  json["gpu_idle"] = gpu_idle();
  json["steps"] = steps;
  json["step_s"] = step_s();
  json["wait_s"] = wait_s;
  auto& wait = json["wait"] = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kWaitCauses; ++i) wait[std::string(kCauses[i].name)] = wait_shares[i];
  json["bottleneck"] =
      limits.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(name_of(limits.front().limiter));
  auto& list = json["limits"] = nlohmann::ordered_json::array();
  for (const Limit& limit : limits) {
    list.push_back({{"resource", name_of(limit.limiter)}, {"samples_per_s", limit.samples_per_s}});
  }
  json["headspace"] = headspace_json(headspace);
  return json;
}

LoaderReport loader_report(const Metrics& begin, const Metrics& end) { return loader_report(begin, begin, end); }

LoaderReport loader_report(const Metrics& counted_from, const Metrics& begin, const Metrics& end) {
  const MetricsWindow window(begin, end);
  LoaderReport report;
  report.samples = end[Metric::kSamples] - counted_from[Metric::kSamples];
  report.steps = window[Metric::kConsumerSteps];
  report.wait_s = window.wait_s();
  report.seconds = report.wait_s + window.seconds_of(Metric::kConsumerStepNs);
  const std::int64_t batches = end[Metric::kBatches] - counted_from[Metric::kBatches];
  report.batch_samples = ratio_or_0(static_cast<double>(report.samples), static_cast<double>(batches));
  report.wait_shares = shares_of_wait(window, window.seconds());
  report.limits = limits_of(window, report);
  return report;
}

}  // namespace stoker
