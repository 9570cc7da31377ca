#include "stoker/doctor/report/doctor_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "stoker/base/units.h"
#include "stoker/doctor/report/doctor_words.h"
#include "stoker/page/report_page.h"
#include "stoker/tuner/tuning_words.h"

namespace stoker {
namespace {

using ChartData = nlohmann::ordered_json;

constexpr double kBeyond = 2.5;  // times the demand: a ladder shows no more
constexpr double kWarmMost = 4;  // times the fastest cold read: longer bars are broken off
constexpr int kHistogramColumns = 24;
constexpr std::string_view kSeveralColors[] = {"wait", "plum", "teal", "rate", "slate"};

std::string_view color_of(std::size_t i) { return kSeveralColors[i % std::size(kSeveralColors)]; }

std::string rate_text(double samples_per_s) { return number_text(samples_per_s) + " samples/s"; }

ChartData part(double share, int percent, std::string_view color, std::string_view label) {
  const std::string text = percent == 0 && share > 0 ? "<1%" : fmt::format("{}%", percent);
  return {{"share", chart_number(share)},
          {"text", text},
          {"color", color},
          {"label", label},
          {"about", fmt::format("{}: {}", label, text)}};
}

ChartData gpu_time(const TrainingVerdict& verdict) {
  std::vector<double> shares;
  for (const TimePart& each : verdict.gpu_time) shares.push_back(each.share);
  const std::vector<int> percents = whole_percents(shares);
  ChartData parts = ChartData::array();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const TimePart& each = verdict.gpu_time[i];
    const std::string_view color = each.kind == TimePart::Kind::kBusy     ? "knob"
                                   : each.kind == TimePart::Kind::kUneven ? "slate"
                                                                          : color_of(i - 1);
    parts.push_back(part(each.share, percents[i], color, each.text()));
  }
  return {{"label", "Time of the GPUs"}, {"parts", parts}};
}

ChartData core_time(const CpuFacts& cpu) {
  std::vector<double> shares;
  std::vector<std::string> names;
  for (const StageFacts& stage : cpu.stages) {
    shares.push_back(stage.cpu_s / cpu.total_s());
    names.push_back(stage.name);
  }
  shares.push_back(cpu.other_s / cpu.total_s());
  names.emplace_back("the rest");
  const std::vector<int> percents = whole_percents(shares);
  ChartData parts = ChartData::array();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const bool rest = i + 1 == shares.size();
    constexpr std::array<std::string_view, 4> kColors = {"rate", "teal", "plum", "knob"};
    parts.push_back(part(shares[i], percents[i], rest ? "slate" : kColors[i % kColors.size()], names[i]));
  }
  return {{"label", fmt::format("Time of a core: {:.3g} ms per sample", 1e3 * cpu.total_s())}, {"parts", parts}};
}

ChartData lines_panel(std::string_view title, std::string_view unit, int height) {
  return {{"title", title},   {"unit", unit},   {"color", "rate"},
          {"height", height}, {"steps", false}, {"points", ChartData::array()}};
}

ChartData bar(double value, std::string_view text, std::string_view color, std::string_view about) {
  return {{"value", chart_number(value)}, {"text", text}, {"color", color}, {"about", about}};
}

// Reads of one size, at each depth: bytes a second, cold and warm.
void add_reads(ChartData& rows, double& cold_most, double& warm_most, const StorageFacts& storage) {
  std::set<std::pair<std::uint64_t, int>> kinds;
  for (const auto* const reads : {&storage.cold, &storage.warm}) {
    for (const ReadFacts& each : *reads) kinds.insert({each.bytes, each.depth});
  }
  for (const auto& [bytes, depth] : kinds) {
    ChartData bars = ChartData::array();
    const auto add = [&, size = bytes, at_once = depth](const std::vector<ReadFacts>& reads, std::string_view color,
                                                        std::string_view how, double& most) {
      for (const ReadFacts& each : reads) {
        if (each.bytes != size || each.depth != at_once || !each.reads_per_s.known()) continue;
        const double rate = each.reads_per_s.median * static_cast<double>(size);
        most = std::max(most, rate);
        bars.push_back(
            bar(rate, fmt::format("{}/s, {}/s", format_size(rate), number_text(each.reads_per_s.median)), color,
                fmt::format("{}: {} reads/s of {}, {:.3g} ms each", how, number_text(each.reads_per_s.median),
                            format_size(static_cast<double>(size)), 1e3 * each.latency_s.median)));
      }
    };
    add(storage.cold, "rate", "cold", cold_most);
    add(storage.warm, "knob", "warm", warm_most);
    if (!bars.empty()) {
      rows.push_back(
          {{"label", fmt::format("{}, {} at once", format_size(static_cast<double>(bytes)), depth)}, {"bars", bars}});
    }
  }
}

struct DistributionText {
  std::string_view title, unit;
  const std::vector<double>& quantiles;
};

DistributionText text_of(const Facts& facts, Distribution of) {
  switch (of) {
    case Distribution::kBytes: return {"Size of a sample's file", "bytes", facts.data.record_bytes_quantiles};
    case Distribution::kWidth: return {"Width of an image, in pixels", "number", facts.data.width_quantiles};
    case Distribution::kHeight: return {"Height of an image, in pixels", "number", facts.data.height_quantiles};
    case Distribution::kCost: break;
  }
  return {"Time of a core for a sample", "seconds", facts.cpu.sample_s};
}

std::string value_text(std::string_view unit, double value) {
  if (unit == "bytes") return format_size(value);
  if (unit == "seconds") return fmt::format("{:.3g} ms", 1e3 * value);
  return number_text(std::round(value));
}

}  // namespace

DoctorChart time_chart(const Diagnosis& diagnosis) {
  ChartData rows = ChartData::array();
  if (diagnosis.facts.step.seconds.known()) rows.push_back(gpu_time(diagnosis.verdict));
  if (diagnosis.facts.cpu.total_s() > 0) rows.push_back(core_time(diagnosis.facts.cpu));
  return {{{"kind", "split"}, {"rows", rows}},
          "Each wait is as long as it would be shorter if its limit were as high as the next one."};
}

DoctorChart ladder_chart(const Diagnosis& diagnosis) {
  const Prediction& now = diagnosis.now;
  const double needed = now.samples_per_s_needed;
  double first = 0, last = 0;
  ChartData rows = ChartData::array();
  for (const Limit& limit : now.limits) {
    if (!std::isfinite(limit.samples_per_s)) continue;
    if (first == 0) first = limit.samples_per_s;
    last = limit.samples_per_s;
    const bool is_step = limit.limiter == Limiter::kStep;
    const bool holds_back = !is_step && needed > 0 && limit.samples_per_s < needed;
    const std::string text = number_text(limit.samples_per_s);
    rows.push_back(
        {{"label", name_of(limit.limiter)},
         {"bars",
          {bar(limit.samples_per_s, text,
               is_step      ? "knob"
               : holds_back ? "wait"
                            : "rate",
               fmt::format("{} could carry {}", words_of(limit.limiter), rate_text(limit.samples_per_s)))}}});
  }
  const double demand = std::max(first, needed);
  ChartData level = nullptr;
  if (needed > 0) level = {{"at", chart_number(needed)}, {"text", "needed: " + rate_text(needed)}};
  return {{{"kind", "bars"},
           {"unit", "number"},
           {"most", chart_number(std::min(last, kBeyond * demand))},
           {"level", level},
           {"legend", ChartData::array()},
           {"rows", rows}},
          "Samples a second that each resource could carry if nothing else limited. Bars with a gap are longer than "
          "the chart."};
}

DoctorChart core_chart(const Diagnosis& diagnosis) {
  const Facts& facts = diagnosis.facts;
  ChartData panel = lines_panel("samples/s", "number", 220);
  for (const CorePoint& point : diagnosis.by_cores.points) {
    panel["points"].push_back({chart_number(point.cores), chart_number(point.samples_per_s)});
  }
  ChartData measured = ChartData::array();
  for (const CpuFacts::Scaling& scaling : facts.cpu.scaling) {
    if (!scaling.samples_per_s.known()) continue;
    measured.push_back({scaling.threads, chart_number(scaling.samples_per_s.median)});
  }
  panel["name"] = "predicted";
  panel["more"] = ChartData::array();
  if (!measured.empty()) {
    panel["more"].push_back({{"points", measured}, {"color", "wait"}, {"name", "measured, with data in memory"}});
  }
  panel["levels"] = ChartData::array();
  double best = 0;
  for (const CorePoint& point : diagnosis.by_cores.points) best = std::max(best, point.samples_per_s);
  // One far above would press all else to the ground.
  if (const double needed = diagnosis.now.samples_per_s_needed; needed > 0 && needed < kBeyond * best) {
    panel["levels"].push_back({{"at", chart_number(needed)}, {"text", "needed: " + rate_text(needed)}});
  }
  const std::optional<double>& knee = diagnosis.by_cores.knee;
  ChartData marks = ChartData::array();
  const std::string now = fmt::format("now: {:.3g}", facts.machine.cores);
  if (knee && std::abs(*knee - facts.machine.cores) < 0.5) {
    marks.push_back({{"at", chart_number(*knee)}, {"text", now + ", the knee"}});
  } else {
    marks.push_back({{"at", chart_number(facts.machine.cores)}, {"text", now}});
    if (knee) marks.push_back({{"at", chart_number(*knee)}, {"text", fmt::format("knee: {:.3g}", *knee)}});
    if (knee && *knee < facts.machine.cores) std::swap(marks[0], marks[1]);
  }
  const std::string caption =
      knee ? fmt::format("From {} on, more cores give nothing.", counted(std::lround(*knee), "core"))
           : "The cores limit at every number that is shown.";
  return {{{"kind", "lines"},
           {"x_unit", "count"},
           {"x_most", chart_number(diagnosis.by_cores.points.back().cores)},
           {"x_title", "cores, with a thread for each"},
           {"panels", {panel}},
           {"shaded", ChartData::array()},
           {"marks", marks}},
          caption};
}

std::optional<DoctorChart> index_chart(const Diagnosis& diagnosis) {
  const std::vector<IndexPoint>& points = diagnosis.by_index;
  if (points.empty()) return std::nullopt;
  std::set<int> indices, threads;
  double best = 0;
  for (const IndexPoint& point : points) {
    indices.insert(point.transfer_index);
    threads.insert(point.threads);
    best = std::max(best, point.samples_per_s);
  }
  ChartData rows = ChartData::array(), columns = ChartData::array(), cells = ChartData::array();
  constexpr std::array<std::string_view, 4> kCrossing = {"coded", "decoded", "resized", "finished"};
  for (const int index : indices)
    rows.push_back(fmt::format("{}: {}", index, kCrossing.at(static_cast<std::size_t>(index))));
  for (const int each : threads) columns.push_back(count_text(each));
  ChartData framed = nullptr;
  const RunFacts& run = diagnosis.facts.run;
  const int run_threads = run.threads * std::max(diagnosis.facts.step.gpus, 1);
  for (const IndexPoint& point : points) {
    const auto row = std::distance(indices.begin(), indices.find(point.transfer_index));
    const auto column = std::distance(threads.begin(), threads.find(point.threads));
    const double share = best > 0 ? point.samples_per_s / best : 0;
    cells.push_back(
        {{"row", row},
         {"column", column},
         {"share", chart_number(share)},
         {"text", number_text(point.samples_per_s)},
         {"note", ""},
         {"about", fmt::format("{} at index {}: {}, limited by {}", counted(point.threads, "thread"),
                               point.transfer_index, rate_text(point.samples_per_s), words_of(point.limiter))}});
    if (point.transfer_index == run.transfer_index && point.threads == run_threads) framed = {row, column};
  }
  return DoctorChart{
      {{"kind", "heat_map"},
       {"row_title", "transfer index"},
       {"column_title", "threads"},
       {"rows", rows},
       {"columns", columns},
       {"framed", framed},
       {"cells", cells}},
      fmt::format("Predicted samples/s on {}, or percent of the best where there is no room. The color "
                  "shows the rate relative to the best{}.",
                  diagnosis.facts.copy.device, framed.is_null() ? "" : "; the frame, the run's setting")};
}

std::optional<DoctorChart> gpu_chart(const Diagnosis& diagnosis) {
  const std::vector<GpuScaling>& scaling = diagnosis.right_size.scaling;
  if (scaling.size() < 2) return std::nullopt;
  ChartData panel = lines_panel("samples/s of a node", "number", 170), fed = ChartData::array();
  const double one = diagnosis.now.samples_per_s_needed / std::max(diagnosis.facts.step.gpus, 1);
  for (const GpuScaling& point : scaling) {
    panel["points"].push_back({point.gpus, chart_number(point.samples_per_s)});
    fed.push_back({point.gpus, chart_number(one * point.gpus)});
  }
  panel["name"] = "predicted";
  panel["more"] = {{{"points", fed}, {"color", "knob"}, {"dashed", true}, {"name", "if all are fed"}}};
  ChartData marks = ChartData::array();
  const std::optional<int>& below = diagnosis.right_size.gpus_scale_below;
  if (below) marks.push_back({{"at", *below}, {"text", "under 95%"}});
  return DoctorChart{
      {{"kind", "lines"},
       {"x_unit", "count"},
       {"x_most", scaling.back().gpus},
       {"x_title", "GPUs of a node, all else as it is"},
       {"panels", {panel}},
       {"shaded", ChartData::array()},
       {"marks", marks}},
      below ? fmt::format("With {} GPUs, each gives less than 95% of what one gives alone.", *below)
            : fmt::format("Up to {} GPUs, each gives at least 95% of what one gives alone.", scaling.back().gpus)};
}

std::optional<DoctorChart> latency_chart(const Diagnosis& diagnosis) {
  const std::vector<LoadPoint>& loads = diagnosis.right_size.inference.loads;
  if (loads.size() < 2) return std::nullopt;
  ChartData panel = lines_panel("latency, ms", "number", 150), slow = ChartData::array();
  for (const LoadPoint& load : loads) {
    panel["points"].push_back({chart_number(load.samples_per_s), chart_number(1e3 * load.latency_s_p50)});
    slow.push_back({chart_number(load.samples_per_s), chart_number(1e3 * load.latency_s_p99)});
  }
  panel["name"] = "half of the answers";
  panel["more"] = {{{"points", slow}, {"color", "wait"}, {"name", "99 in 100"}}};
  return DoctorChart{{{"kind", "lines"},
                      {"x_unit", "number"},
                      {"x_most", chart_number(loads.back().samples_per_s)},
                      {"x_title", "samples/s that are asked for"},
                      {"panels", {panel}},
                      {"shaded", ChartData::array()},
                      {"marks", ChartData::array()}},
                     "How long an answer takes at most, when the GPUs serve instead of training."};
}

std::optional<DoctorChart> storage_chart(const Diagnosis& diagnosis) {
  if (!diagnosis.facts.storage) return std::nullopt;
  const StorageFacts& storage = *diagnosis.facts.storage;
  ChartData rows = ChartData::array(), in_order = ChartData::array();
  double cold_most = 0, warm_most = 0;
  if (storage.cold_bytes_per_s.known()) {
    cold_most = storage.cold_bytes_per_s.median;
    in_order.push_back(bar(cold_most, format_size(cold_most) + "/s", "rate", "cold, in order"));
  }
  if (storage.warm_bytes_per_s.known()) {
    warm_most = storage.warm_bytes_per_s.median;
    in_order.push_back(bar(warm_most, format_size(warm_most) + "/s", "knob", "warm, in order"));
  }
  if (!in_order.empty()) rows.push_back({{"label", "in order"}, {"bars", in_order}});
  add_reads(rows, cold_most, warm_most, storage);
  if (rows.empty()) return std::nullopt;
  const double most = cold_most > 0 ? std::min(warm_most, kWarmMost * cold_most) : warm_most;
  return DoctorChart{{{"kind", "bars"},
                      {"unit", "bytes_per_s"},
                      {"most", chart_number(std::max(most, cold_most))},
                      {"level", nullptr},
                      {"legend",
                       {{{"color", "rate"}, {"text", "cold: from the device"}},
                        {{"color", "knob"}, {"text", "warm: from the page cache"}}}},
                      {"rows", rows}},
                     fmt::format("{}, {}. Bars with a gap are longer than the chart.",
                                 storage.device.empty() ? "The data's device" : storage.device, storage.file_system)};
}

std::optional<DoctorChart> distribution_chart(const Diagnosis& diagnosis, Distribution of) {
  const DistributionText text = text_of(diagnosis.facts, of);
  const DistributionColumns histogram = distribution_columns(text.quantiles, kHistogramColumns);
  if (histogram.shares.empty()) return std::nullopt;
  ChartData edges = ChartData::array(), shares = ChartData::array();
  for (const double edge : histogram.edges) edges.push_back(value_text(text.unit, edge));
  for (const double share : histogram.shares) shares.push_back(chart_number(share));
  const auto above = std::upper_bound(histogram.edges.begin(), histogram.edges.end(), histogram.median);
  const auto column = std::clamp<std::ptrdiff_t>(above - histogram.edges.begin() - 1, 0, kHistogramColumns - 1);
  const double from = histogram.edges[static_cast<std::size_t>(column)];
  const double to = histogram.edges[static_cast<std::size_t>(column) + 1];
  const double at = static_cast<double>(column) + (histogram.median - from) / (to - from);
  return DoctorChart{
      {{"kind", "histogram"},
       {"title", text.title},
       {"color", of == Distribution::kCost ? "teal" : "rate"},
       {"edges", edges},
       {"shares", shares},
       {"marks", {{{"at", chart_number(at)}, {"text", "median " + value_text(text.unit, histogram.median)}}}}},
      ""};
}

std::optional<DoctorChart> run_chart(const Diagnosis& diagnosis) {
  if (diagnosis.runs.empty()) return std::nullopt;
  ChartData rows = ChartData::array();
  double most = 0;
  for (const ComparedRun& each : diagnosis.runs) {
    const double predicted = each.predicted_samples_per_s, measured = each.run.samples_per_s;
    most = std::max({most, predicted, measured});
    rows.push_back({{"label", each.run.name},
                    {"bars",
                     {bar(predicted,
                          fmt::format("{} ({})", number_text(predicted),
                                      each.comparable() ? gain_text(each.error()) : "not comparable"),
                          "rate", "predicted"),
                      bar(measured, number_text(measured), "wait", "measured")}}});
  }
  return DoctorChart{
      {{"kind", "bars"},
       {"unit", "number"},
       {"most", chart_number(most)},
       {"level", nullptr},
       {"legend", {{{"color", "rate"}, {"text", "predicted"}}, {{"color", "wait"}, {"text", "measured"}}}},
       {"rows", rows}},
      "Samples a second."};
}

}  // namespace stoker
