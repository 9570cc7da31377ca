#include "cli/mlperf_report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <sstream>

#include "stoker/base/machine.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr int kMemoryFactor = 5;
constexpr std::int64_t kStepsMin = 500;
constexpr double kRecordTolerance = 0.05;
constexpr double kMib = 1 << 20, kGib = 1 << 30;

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// Of all of them, as numpy.std.
double deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
}

std::vector<double> utilisations(const MlperfReport& report) {
  std::vector<double> values;
  for (const MlperfReport::Epoch& epoch : report.epochs) {
    if (epoch.utilisation_percent) values.push_back(*epoch.utilisation_percent);
  }
  return values;
}

std::vector<double> rates(const MlperfReport& report) {
  std::vector<double> values;
  for (const MlperfReport::Epoch& epoch : report.epochs) values.push_back(epoch.samples_per_s);
  return values;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// A file of lines "name: value", of which the last of a name counts.
nlohmann::ordered_json named_lines(const char* path) {
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos) values[trimmed(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
  }
  return values;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

nlohmann::ordered_json rules_json(const MlperfReport& report) {
  auto rules = nlohmann::ordered_json::array();
  for (const MlperfRule& rule : report.rules()) {
    rules.push_back({{"rule", rule.name}, {"holds", rule.holds}, {"why", rule.why}});
  }
  return rules;
}

bool is_valid(const MlperfReport& report) {
  const std::vector<MlperfRule> rules = report.rules();
  return std::all_of(rules.begin(), rules.end(), [](const MlperfRule& rule) { return rule.holds; });
}

}  // namespace

std::string time_of_day() {
  const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  const auto part = now - std::chrono::floor<std::chrono::seconds>(now);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}", fmt::localtime(std::chrono::system_clock::to_time_t(now)),
                     part.count());
}

double MlperfReport::utilisation_mean_percent() const { return mean_of(utilisations(*this)); }

bool MlperfReport::meets_expectation() const {
  return utilisation_mean_percent() >= 100 * profile->workload->utilisation_min;
}

std::vector<MlperfRule> MlperfReport::rules() const {
  const auto size = [](double bytes) { return format_size(bytes); };
  const double data = static_cast<double>(data_bytes), memory = static_cast<double>(memory_bytes);
  const double record = samples > 0 ? data / static_cast<double>(samples) : 0;
  const TrainingWorkload& workload = *profile->workload;
  return {
      {"data", data >= kMemoryFactor * memory,
       fmt::format("the data have {}, and must have {} times the memory of {}, so that they cannot be cached",
                   size(data), kMemoryFactor, size(memory))},
      {"steps", steps_per_epoch >= kStepsMin,
       fmt::format("the data are enough for {} an epoch, and must be for {}", counted(steps_per_epoch, "step"),
                   kStepsMin)},
      {"batch", batch == profile->batch,
       fmt::format("an accelerator's batch has {}, and must have {}", counted(batch, "sample"), profile->batch)},
      {"records", std::abs(record - workload.record_bytes) <= kRecordTolerance * workload.record_bytes,
       fmt::format("a sample has {} on average, and must have {}", size(record), size(workload.record_bytes))},
  };
}

nlohmann::ordered_json MlperfReport::summary() const {
  const double data_gib = static_cast<double>(data_bytes) / kGib, memory_gib = static_cast<double>(memory_bytes) / kGib;
  const std::vector<double> percent = utilisations(*this), rate = rates(*this);
  const double mib = profile->workload->record_bytes / kMib;
  nlohmann::ordered_json json;
  json["start"] = start;
  json["num_accelerators"] = accelerators;
  json["num_hosts"] = 1;
  json["hostname"] = host_name();
  json["metric"] = {{"train_au_percentage", percent},
                    {"train_au_mean_percentage", mean_of(percent)},
                    {"train_au_meet_expectation", meets_expectation() ? "success" : "fail"},
                    {"train_au_stdev_percentage", deviation_of(percent)},
                    {"train_throughput_samples_per_second", rate},
                    {"train_throughput_mean_samples_per_second", mean_of(rate)},
                    {"train_throughput_stdev_samples_per_second", deviation_of(rate)},
                    {"train_io_mean_MB_per_second", mean_of(rate) * mib},
                    {"train_io_stdev_MB_per_second", deviation_of(rate) * mib}};
  json["num_files_train"] = files;
  json["num_files_eval"] = 0;
  json["num_samples_per_file"] = files > 0 ? (samples + files - 1) / files : 0;
  json["host_cpu_count"] = {cores};
  json["host_processor_name"] = machine_name();
  json["potential_caching"] = {data_gib >= memory_gib ? 0 : 1};
  json["host_cpuinfo"] = named_lines("/proc/cpuinfo");
  json["host_meminfo"] = named_lines("/proc/meminfo");
  json["host_memory_GB"] = {memory_gib};
  json["data_size_per_host_GB"] = data_gib;
  json["epochs"] = epochs.size();
  json["end"] = end;
  json["stoker"] = this->json();
  return json;
}

nlohmann::ordered_json MlperfReport::json() const {
  nlohmann::ordered_json json;
  json["profile"] = profile->name;
  json["accelerators"] = accelerators;
  json["au_percent"] = utilisation_mean_percent();
  json["au_percent_min"] = 100 * profile->workload->utilisation_min;
  json["meets_expectation"] = meets_expectation();
  json["steps_per_epoch"] = steps_per_epoch;
  json["valid"] = is_valid(*this);
  json["rules"] = rules_json(*this);
  return json;
}

std::string MlperfReport::text() const {
  std::int64_t steps = 0;
  for (const Epoch& epoch : epochs) steps += epoch.steps;
  std::string text = fmt::format("AU {:.1f}% of {} with {} in {}; {:g}% are wanted: {}.\n", utilisation_mean_percent(),
                                 profile->name, counted(accelerators, "accelerator"), counted(steps, "step"),
                                 100 * profile->workload->utilisation_min, meets_expectation() ? "reached" : "missed");
  for (const MlperfRule& rule : rules()) {
    if (!rule.holds) text += fmt::format("Not a valid result of MLPerf Storage: {}.\n", rule.why);
  }
  return text;
}

}  // namespace stoker
