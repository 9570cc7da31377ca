#include "cli/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/process_usage.h"
#include "cli/text_table.h"
#include "stoker/base/isa.h"
#include "stoker/base/machine.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

// The stages on workers and device in the order in which a sample passes through them, whether or not they are timed,
// and other stages that ran: the index may change, and some images cross with more stages done. Reading is not among
// them, since it waits more than it works.
std::vector<StageTime> stage_rows(const RunReport& report) {
  std::vector<StageTime> rows;
  const int transfer_index = report.device.name == "cpu" ? kTransferIndexMax : report.transfer_index;
  for (std::size_t run = 0; run < kStageRuns.size(); ++run) {
    const Metric metric = stage_ns(run);
    if (report.metrics[metric] == 0 && !runs_at(kStageRuns[run], transfer_index)) continue;
    const MetricSpec& spec = metric_table()[static_cast<std::size_t>(metric)];
    rows.push_back({spec.stage, spec.side, report.metrics.seconds_of(metric)});
  }
  return rows;
}

std::string duration(double seconds) {
  return seconds < 0.95 ? fmt::format("{:.0f} ms", seconds * 1e3) : format_duration(seconds);
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

// The distribution of the workers' time: the stages that they measured, and the rest.
std::string worker_table(const RunReport& report) {
  const double total =
      report.metrics.seconds_of(Metric::kWorkerBusyNs) + report.metrics.seconds_of(Metric::kWorkerIdleNs);
  double other = total;
  TextTable table({{"worker time"}, {"seconds", Align::kRight}, {"share", Align::kRight}});
  const auto add = [&](std::string_view name, double seconds) {
    table.add_row({std::string(name), fmt::format("{:.2f}", seconds), percent(ratio(seconds, total))});
    other -= seconds;
  };
  for (const StageTime& stage : stage_rows(report)) {
    if (stage.side == "cpu") add(stage.name, stage.seconds);
  }
  static constexpr std::pair<std::string_view, Metric> kOthers[] = {{"arrays, tokens, texts", Metric::kFieldsNs},
                                                                    {"mixing", Metric::kMixNs}};
  for (const auto& [name, metric] : kOthers) {
    if (report.metrics[metric] > 0) add(name, report.metrics.seconds_of(metric));
  }
  if (const double all_s = report.metrics.seconds_of(Metric::kFunctionNs); all_s > 0) {
    const double inside_s = report.metrics.seconds_of(Metric::kFunctionInsideNs);
    add("functions", inside_s);
    add("passing values to functions", all_s - inside_s);
  }
  add("idle", report.metrics.seconds_of(Metric::kWorkerIdleNs));
  add("other", std::max(other, 0.0));
  return table.text();
}

// What moved the bytes, and what worked on them, each with the share of the run's time in which it was in use.
std::string resource_table(const RunReport& report) {
  const MetricsWindow& metrics = report.metrics;
  TextTable table({{"step"},
                   {"bytes", Align::kRight},
                   {"requests", Align::kRight},
                   {"retries", Align::kRight},
                   {"hedged", Align::kRight},
                   {"first byte p50", Align::kRight},
                   {"p99", Align::kRight},
                   {"share of time", Align::kRight}});
  const auto bytes = [&](Metric metric) { return format_size(static_cast<double>(metrics[metric])); };
  const auto count = [&](Metric metric) { return format_count(static_cast<std::uint64_t>(metrics[metric])); };
  const auto share = [&](double seconds, double of) { return percent(std::min(ratio(seconds, of), 1.0)); };
  if (report.has_store) {
    const double store_s = static_cast<double>(metrics[Metric::kStoreNs] - report.store_ns_before) * 1e-9;
    table.add_row({"network", bytes(Metric::kStoreBytes), count(Metric::kStoreRequests), count(Metric::kStoreRetries),
                   count(Metric::kStoreHedged), duration(metrics.seconds_of(Metric::kStoreFirstByteP50Ns)),
                   duration(metrics.seconds_of(Metric::kStoreFirstByteP99Ns)), share(store_s, report.seconds)});
  }
  if (!report.has_store || metrics[Metric::kDiskReads] > 0) {
    table.add_row({"disk", bytes(Metric::kDiskBytes), count(Metric::kDiskReads), "-", "-", "-", "-",
                   share(metrics.seconds_of(Metric::kDiskNs), report.seconds)});
  }
  const double busy_s = metrics.seconds_of(Metric::kWorkerBusyNs);
  table.add_row(
      {"CPU", "-", "-", "-", "-", "-", "-", share(busy_s, busy_s + metrics.seconds_of(Metric::kWorkerIdleNs))});
  if (report.device.name != "cpu") {
    table.add_row({"copy", bytes(Metric::kBytesToDevice), "-", "-", "-", "-", "-", "-"});
  }
  return table.text();
}

nlohmann::ordered_json store_json(const RunReport& report) {
  if (!report.has_store) return nullptr;
  const MetricsWindow& metrics = report.metrics;
  return {{"requests", metrics[Metric::kStoreRequests]},
          {"retries", metrics[Metric::kStoreRetries]},
          {"hedged", metrics[Metric::kStoreHedged]},
          {"bytes", metrics[Metric::kStoreBytes]},
          {"first_byte_ms_p50", metrics.seconds_of(Metric::kStoreFirstByteP50Ns) * 1e3},
          {"first_byte_ms_p99", metrics.seconds_of(Metric::kStoreFirstByteP99Ns) * 1e3}};
}

nlohmann::ordered_json tuning_json(const RunReport& report) {
  if (!report.tunes) return nullptr;
  const std::vector<TuningMove>& moves = report.tuning.moves;
  return {{"windows", report.tuning.windows()},
          {"settled", !moves.empty() && moves.back().settled_on.has_value()},
          {"why", moves.empty() ? report.tuning.first_why : moves.back().why}};
}

// None without one on a disk.
std::string cache_text(const RunReport& report) {
  if (!report.cache) return "";
  const DiskCacheCounters& cache = *report.cache;
  const auto size = [](std::uint64_t bytes) { return format_size(static_cast<double>(bytes)); };
  std::string text = fmt::format("From the cache on disk: {}; from the store: {}; written to the cache: {}.\n",
                                 size(cache.bytes_from_disk), size(cache.bytes_from_store), size(cache.bytes_written));
  if (cache.damaged > 0) {
    text += fmt::format("{} of the cache had been damaged, and came from the store again.\n",
                        counted(cache.damaged, "block"));
  }
  return text;
}

}  // namespace

nlohmann::ordered_json cache_json(const DiskCacheCounters& cache) {
  return {{"hits", cache.hits},
          {"misses", cache.misses},
          {"bytes_from_disk", cache.bytes_from_disk},
          {"bytes_from_store", cache.bytes_from_store},
          {"bytes_written", cache.bytes_written},
          {"dropped", cache.dropped},
          {"damaged", cache.damaged}};
}

nlohmann::ordered_json RunReport::json() const {
  const auto count = static_cast<double>(metrics[Metric::kSamples]);
  double stage_seconds = 0;
  for (const StageTime& stage : stage_rows(*this)) stage_seconds += stage.seconds;
  auto stages = nlohmann::ordered_json::array();
  for (const StageTime& stage : stage_rows(*this)) {
    stages.push_back({{"name", stage.name},
                      {"side", stage.side},
                      {"seconds", stage.seconds},
                      {"share", ratio(stage.seconds, stage_seconds)}});
  }
  nlohmann::ordered_json json;
  json["samples"] = metrics[Metric::kSamples];
  json["seconds"] = seconds;
  json["samples_per_s"] = ratio(count, seconds);
  json["cpu_ms_per_sample"] = ratio(cpu_s * 1e3, count);
  json["rss_bytes_max"] = process_rss_bytes_max();
  json["wait_s"] = metrics.seconds_of(Metric::kConsumerWaitNs);
  json["first_batch_s"] = metrics.seconds_of(Metric::kFirstBatchNs);
  json["utilisation"] = utilisation ? nlohmann::ordered_json(*utilisation) : nullptr;
  json["mlperf"] = mlperf ? mlperf->json() : nlohmann::ordered_json(nullptr);
  json["bad_samples"] = metrics[Metric::kBadSamples];
  json["fallback_samples"] = metrics[Metric::kJpegFallbacks];
  json["bytes_read"] = metrics[Metric::kBytesRead];
  json["store"] = store_json(*this);
  json["bytes_to_device"] = metrics[Metric::kBytesToDevice];
  json["cache"] = cache ? cache_json(*cache) : nlohmann::ordered_json(nullptr);
  json["report"] = limits.json();
  json["epoch_reports"] = nlohmann::ordered_json::array();
  for (const LoaderReport& of_epoch : epoch_limits) json["epoch_reports"].push_back(of_epoch.json());
  json["epochs"] = epochs;
  json["batch"] = batch;
  json["step_s"] = step_seconds ? nlohmann::ordered_json(*step_seconds) : nullptr;
  json["accelerators"] = accelerators;
  json["threads"] = threads;
  json["prefetch"] = prefetch;
  json["io_depth"] = io_depth;
  json["transfer_index"] = transfer_index;
  json["tuning"] = tuning_json(*this);
  json["device"] = device.name;
  json["io"] = io;
  json["isa"] = active_isa();
  json["machine"] = machine_name();
  json["stages"] = std::move(stages);
  return json;
}

std::string RunReport::text() const {
  const auto count = static_cast<double>(metrics[Metric::kSamples]);
  std::string text = fmt::format("{} in {}: {:.0f} samples/s, {:.2f} ms of CPU each ({}, {})\n",
                                 counted(metrics[Metric::kSamples], "sample"), duration(seconds), ratio(count, seconds),
                                 ratio(cpu_s * 1e3, count), counted(threads, "thread"), active_isa());
  if (utilisation && step_seconds) {
    text += fmt::format("The accelerator was busy {} of the time ({:.3g} s per step of {}).\n", percent(*utilisation),
                        *step_seconds, counted(batch, "sample"));
  }
  if (mlperf) text += mlperf->text();
  if (device.name != "cpu") {
    text +=
        fmt::format("{} went to {} at transfer index {}; its kernels took {}.{}{}\n",
                    format_size(static_cast<double>(metrics[Metric::kBytesToDevice])), device.name, transfer_index,
                    duration(metrics.seconds_of(Metric::kDeviceNs)), device.caveat.empty() ? "" : " ", device.caveat);
  }
  text += fmt::format("First batch after {}; {} spent waiting for batches; {} read; peak memory {}.\n",
                      duration(metrics.seconds_of(Metric::kFirstBatchNs)),
                      duration(metrics.seconds_of(Metric::kConsumerWaitNs)),
                      format_size(static_cast<double>(metrics[Metric::kBytesRead])),
                      format_size(static_cast<double>(process_rss_bytes_max())));
  text += cache_text(*this);
  if (!limits.limits.empty()) text += limits.verdict() + ".\n";
  if (!tuning.moves.empty()) {
    text += fmt::format("Tuning, after {}: {}.\n", counted(tuning.windows(), "window"), tuning.moves.back().why);
  }
  return text + "\n" + resource_table(*this) + "\n" + worker_table(*this);
}

}  // namespace stoker
