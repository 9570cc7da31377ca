#include "stoker/runtime/report/dashboard.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "stoker/page/report_page.h"
#include "stoker/runtime/report/dashboard_script.h"
#include "stoker/runtime/report/loader_report.h"
#include "stoker/runtime/report/metrics_window.h"

namespace stoker {
namespace {

// What is said of now is of so long, or since it was asked for last; and more readings than one in so long add nothing.
constexpr std::int64_t kRecentNs = 5'000'000'000, kApartNs = 200'000'000;

double per(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

void RecentReadings::add(Metrics now) {
  const std::int64_t at_ns = now.at_ns;
  if (readings_.size() > 1 && at_ns - readings_[readings_.size() - 2].at_ns < kApartNs) readings_.pop_back();
  readings_.push_back(std::move(now));
  while (readings_.size() > 2 && at_ns - readings_.front().at_ns > kRecentNs) readings_.pop_front();
}

nlohmann::ordered_json dashboard_json(const std::string& name, int rank, const RecentReadings& readings) {
  const MetricsWindow window(readings.begin(), readings.end());
  const double workers_s = window.seconds_of(Metric::kWorkerBusyNs) + window.seconds_of(Metric::kWorkerIdleNs);
  auto stages = nlohmann::ordered_json::array();
  for (const StageTime& stage : window.stages()) {
    const double whole = stage.side == "cpu" ? workers_s : window.seconds();
    stages.push_back({{"name", stage.name}, {"side", stage.side}, {"share", per(stage.seconds, whole)}});
  }
  const auto mean = [&](Metric level_ns) { return window.mean(level_ns); };
  return {{"name", name},
          {"rank", rank},
          {"at_s", static_cast<double>(readings.end().at_ns) * 1e-9},
          {"samples", readings.end()[Metric::kSamples]},
          {"over_s", window.seconds()},
          {"report", loader_report(readings.begin(), readings.end()).json()},
          {"workers_busy", mean(Metric::kWorkerBusyNs)},
          {"busy_share", per(window.seconds_of(Metric::kWorkerBusyNs), workers_s)},
          {"stages", std::move(stages)},
          {"bytes_read_per_s", per(static_cast<double>(window[Metric::kBytesRead]), window.seconds())},
          {"levels",
           {{"reads_in_flight", mean(Metric::kReadNs)},
            {"reads_waiting", mean(Metric::kReadsWaitingNs)},
            {"tickets_ready", mean(Metric::kTicketsReadyNs)},
            {"batches_ready", mean(Metric::kBatchesReadyNs)}}},
          {"knobs",
           {{"threads", window[Metric::kThreads]},
            {"prefetch", window[Metric::kPrefetch]},
            {"io_depth", window[Metric::kIoDepth]},
            {"transfer_index", window[Metric::kTransferIndex]}}},
          {"memory",
           {{"read_ahead_bytes", window[Metric::kReadAheadBytes]},
            {"batch_bytes", window[Metric::kBatchBytes]},
            {"cache_bytes", window[Metric::kCacheBytes]},
            {"device_bytes", window[Metric::kDeviceBytes]}}}};
}

std::string dashboard_html() {
  const nlohmann::ordered_json nothing = {{"kind", "split"}, {"rows", nlohmann::ordered_json::array()}};
  ReportPage page("What Stoker's loader is doing");
  page.place("loaders", "");
  page.place("verdict", "verdict open", "Waiting for the first figures.");
  page.figures(std::vector<PageFigure>(6));
  page.chart(nothing, "Rate, idle share, workers, reads and batches over time", "The last minutes.");
  page.chart(nothing, "What was waited for, and what workers did", "Of the last seconds.");
  page.table({.columns = {{"threads"},
                          {"prefetch"},
                          {"I/O depth"},
                          {"transfer index"},
                          {"read ahead"},
                          {"batches"},
                          {"cache"},
                          {"on the device"}},
              .rows = {{.cells = std::vector<PageTable::Cell>(8)}}});
  page.place("state", "remark");
  page.script(kDashboardScript);
  return page.html();
}

}  // namespace stoker
