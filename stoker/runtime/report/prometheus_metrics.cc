#include "stoker/runtime/report/prometheus_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace stoker {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::string_view kNs = "_ns", kBytesFirst = "bytes_";

/// The metrics that have a series for each worker.
constexpr std::pair<Metric, std::int64_t WorkerTimes::*> kOfWorkers[] = {
    {Metric::kWorkerBusyNs, &WorkerTimes::busy_ns}, {Metric::kWorkerIdleNs, &WorkerTimes::idle_ns}};

bool is_time(const MetricSpec& spec) { return spec.name.ends_with(kNs); }

std::string_view help_of(const MetricSpec& spec) {
  if (!spec.stage.empty()) return "time that workers and the device spent on a stage, or on several fused stages";
  if (spec.kind == MetricKind::kKnob) return "current value";
  if (!spec.quantity.empty()) return "time that answers of stores took to begin";
  return spec.doc;
}

MetricFamily& family_of(const MetricSpec& spec, std::vector<MetricFamily>& families) {
  const std::string name = prometheus_name(spec);
  const auto found = std::find_if(families.begin(), families.end(), [&](const auto& one) { return one.name == name; });
  if (found != families.end()) return *found;
  MetricFamily& family = families.emplace_back();
  family.name = name;
  family.help = help_of(spec);
  family.type = spec.kind == MetricKind::kCounter ? MetricType::Counter : MetricType::Gauge;
  return family;
}

void add_series(const MetricSpec& spec, const LoaderReading& reading, std::int64_t value,
                std::vector<ClientMetric::Label> labels, MetricFamily& family) {
  ClientMetric series;
  series.label = {{"loader", reading.loader}, {"rank", fmt::format("{}", reading.rank)}};
  series.label.insert(series.label.end(), labels.begin(), labels.end());
  const double units = static_cast<double>(value) * (is_time(spec) ? 1e-9 : 1);
  (family.type == MetricType::Counter ? series.counter.value : series.gauge.value) = units;
  family.metric.push_back(std::move(series));
}

}  // namespace

std::string prometheus_name(const MetricSpec& spec) {
  if (!spec.stage.empty()) return "stoker_stage_busy_seconds_total";
  if (spec.kind == MetricKind::kKnob) return "stoker_knob";
  std::string name(spec.quantity.empty() ? spec.name : spec.quantity);
  if (is_time(spec)) {
    name = name.substr(0, name.size() - kNs.size()) + "_seconds";
  } else if (spec.name.starts_with(kBytesFirst)) {
    name = name.substr(kBytesFirst.size()) + "_bytes";
  }
  return fmt::format("stoker_{}{}", name, spec.kind == MetricKind::kCounter ? "_total" : "");
}

std::vector<MetricFamily> prometheus_families(std::span<const LoaderReading> loaders) {
  std::vector<MetricFamily> families;
  for (std::size_t i = 0; i < kMetrics; ++i) {
    const MetricSpec& spec = metric_table()[i];
    const auto of_workers = std::find_if(std::begin(kOfWorkers), std::end(kOfWorkers),
                                         [&](const auto& one) { return static_cast<std::size_t>(one.first) == i; });
    MetricFamily& family = family_of(spec, families);
    for (const LoaderReading& reading : loaders) {
      if (of_workers != std::end(kOfWorkers)) {
        for (std::size_t worker = 0; worker < reading.metrics.workers.size(); ++worker) {
          add_series(spec, reading, reading.metrics.workers[worker].*of_workers->second,
                     {{"worker", fmt::format("{}", worker)}}, family);
        }
        continue;
      }
      std::vector<ClientMetric::Label> labels;
      if (!spec.stage.empty()) labels = {{"stage", std::string(spec.stage)}, {"side", std::string(spec.side)}};
      if (!spec.quantile.empty()) labels = {{"quantile", std::string(spec.quantile)}};
      if (spec.kind == MetricKind::kKnob) labels = {{"name", std::string(spec.name)}};
      add_series(spec, reading, reading.metrics.values[i], std::move(labels), family);
    }
  }
  return families;
}

}  // namespace stoker
