#include "stoker/tuner/report/tuning_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "stoker/base/units.h"
#include "stoker/page/report_page.h"
#include "stoker/tuner/statistics.h"
#include "stoker/tuner/tuning_words.h"

namespace stoker {
namespace {

using ChartData = nlohmann::ordered_json;

constexpr int kColumnsEach = 16;  // up to here every number of threads has its column
constexpr std::size_t kSearchesMost = 3;

struct KnobPanel {
  int KnobSetting::*value;
  std::string_view title, name, unit;
};
constexpr KnobPanel kKnobPanels[] = {
    {&KnobSetting::threads, "threads", "threads", "count"},
    {&KnobSetting::transfer_index, "transfer index (stages on the CPU)", "the transfer index", "count"},
    {&KnobSetting::prefetch, "prefetch (batches made ahead)", "prefetch", "doublings"},
    {&KnobSetting::io_depth, "I/O depth (reads under way at once)", "the I/O depth", "doublings"}};

bool never_changed(const std::vector<TuningMove>& moves, int KnobSetting::*knob) {
  return std::all_of(moves.begin(), moves.end(),
                     [&](const TuningMove& move) { return move.knobs.*knob == moves.front().knobs.*knob; });
}

ChartData panel(std::string_view title, std::string_view unit, std::string_view color, int height, ChartData points) {
  return {{"title", title},           {"unit", unit},
          {"color", color},           {"height", height},
          {"steps", color == "knob"}, {"points", std::move(points)}};
}

// What was measured is of the whole window: its middle stands for it.
ChartData points_of(const std::vector<TuningMove>& moves, double (*of)(const TunerWindow&)) {
  ChartData points = ChartData::array();
  for (const TuningMove& move : moves) {
    const double value = of(move.window), middle_s = move.at_s - std::clamp(move.window.seconds, 0.0, move.at_s) / 2;
    if (std::isfinite(value)) points.push_back({chart_number(middle_s), chart_number(value)});
  }
  return points;
}

// Where each value begins, and the end of the last.
ChartData steps_of(const std::vector<TuningMove>& moves, int KnobSetting::*knob) {
  ChartData points = ChartData::array();
  double from_s = 0;
  for (const TuningMove& move : moves) {
    const int value = move.knobs.*knob;
    if (points.empty() || value != points.back()[1]) points.push_back({chart_number(from_s), value});
    from_s = move.at_s;
  }
  if (!points.empty()) points.push_back({chart_number(from_s), points.back()[1]});
  return points;
}

// Stretches that touch are one.
ChartData settled_stretches(const std::vector<TuningMove>& moves) {
  ChartData stretches = ChartData::array();
  for (std::size_t i = 0; i + 1 < moves.size(); ++i) {
    const double from = chart_number(moves[i].at_s), to = chart_number(moves[i + 1].at_s);
    if (!moves[i].settled_on || to <= from) continue;
    if (stretches.empty() || from != stretches.back()[1]) stretches.push_back({from, from});
    stretches.back()[1] = to;
  }
  return stretches;
}

// Says which knobs there is no panel for.
std::string unchanged_text(const std::vector<TuningMove>& moves) {
  std::string text;
  for (const KnobPanel& knob : kKnobPanels) {
    if (!never_changed(moves, knob.value)) continue;
    text += fmt::format("{}{} {}", text.empty() ? " Never changed: " : ", ", knob.name,
                        count_text(moves.front().knobs.*knob.value));
  }
  return text.empty() ? "" : text + ".";
}

// The windows from one start of the search to the next, and what came of it.
struct TriedSearch {
  std::span<const TuningMove> moves;
  double from_s, to_s;
  KnobSetting chosen;
};

// Only where something has changed is a tuner that had settled so no more.
std::vector<TriedSearch> searches_of(std::span<const TuningMove> moves) {
  std::vector<TriedSearch> searches;
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= moves.size(); ++i) {
    const bool reopened = i < moves.size() && moves[i - 1].settled_on && !moves[i].settled_on;
    if (!reopened && i < moves.size()) continue;
    // The window in which it was noticed is still of the search before.
    const std::size_t end = std::min(i + 1, moves.size());
    searches.push_back({moves.subspan(begin, end - begin), begin == 0 ? 0 : moves[begin - 1].at_s, moves[end - 1].at_s,
                        moves[i - 1].next});
    begin = end;
  }
  return searches;
}

// An index is a place between two stages.
std::string index_label(const TunedWorkload& workload, int index) {
  if (workload.stages.empty() || index < 0 || static_cast<std::size_t>(index) > workload.stages.size()) {
    return count_text(index);
  }
  if (index == 0) return "0: before all stages";
  return fmt::format("{}: after {}", index, workload.stages[static_cast<std::size_t>(index - 1)].name);
}

// In rising order: those tried and chosen, the threads between if they are few, and the indices that were possible.
struct Axes {
  std::vector<int> threads, indices;
};
Axes axes_of(std::set<int> threads, std::set<int> indices, const TunedWorkload& workload) {
  const int least = *threads.begin(), most = *threads.rbegin();
  if (most - least < kColumnsEach) {
    for (int each = least; each < most; ++each) threads.insert(each);
  }
  const std::vector<int> possible = transfer_indices(workload);
  if (!workload.stages.empty()) indices.insert(possible.begin(), possible.end());
  return {{threads.begin(), threads.end()}, {indices.begin(), indices.end()}};
}

std::ptrdiff_t place_in(const std::vector<int>& sorted, int value) {
  return std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
}

struct TriedRates {
  std::map<std::pair<int, int>, std::vector<double>> at;  // index, threads
  double best = 0;                                        // of the medians
};

TriedRates tried_rates(std::span<const TuningMove> moves) {
  TriedRates rates;
  for (const TuningMove& move : moves) {
    const double rate = rate_of(move.window);
    if (std::isfinite(rate)) rates.at[{move.knobs.transfer_index, move.knobs.threads}].push_back(rate);
  }
  for (const auto& [place, all] : rates.at) rates.best = std::max(rates.best, median(all));
  return rates;
}

ChartData heat_map(const TriedRates& rates, const KnobSetting& chosen, const TunedWorkload& workload) {
  std::set<int> threads = {chosen.threads}, indices = {chosen.transfer_index};
  for (const auto& [place, all] : rates.at) {
    indices.insert(place.first);
    threads.insert(place.second);
  }
  const Axes axes = axes_of(std::move(threads), std::move(indices), workload);
  ChartData map = {{"kind", "heat_map"}, {"row_title", "transfer index"}, {"column_title", "threads"}};
  for (const int each : axes.indices) map["rows"].push_back(index_label(workload, each));
  for (const int each : axes.threads) map["columns"].push_back(count_text(each));
  map["framed"] = {place_in(axes.indices, chosen.transfer_index), place_in(axes.threads, chosen.threads)};
  for (const auto& [place, all] : rates.at) {
    const auto& [index, count] = place;
    const double rate = median(all), share = rates.best > 0 ? rate / rates.best : 0;
    const auto windows = static_cast<std::int64_t>(all.size());
    const std::string at_index = has_device(workload) ? fmt::format(" at index {}", index) : "";
    map["cells"].push_back(
        {{"row", place_in(axes.indices, index)},
         {"column", place_in(axes.threads, count)},
         {"share", chart_number(share)},
         {"text", number_text(rate)},
         {"note", "×" + count_text(windows)},
         {"about", fmt::format("{}{}: {} samples/s, {} of the best, {}", counted(count, "thread"), at_index,
                               number_text(rate), share_text(share), counted(windows, "window"))}});
  }
  return map;
}

}  // namespace

TuningChart tuning_over_time(const TuningLog& log) {
  // Those of which it is known when they were.
  std::vector<TuningMove> moves;
  std::copy_if(log.moves.begin(), log.moves.end(), std::back_inserter(moves),
               [](const TuningMove& move) { return std::isfinite(move.at_s) && move.at_s >= 0; });
  double end_s = 0;
  ChartData marks = ChartData::array(), panels = ChartData::array();
  for (std::size_t i = 0; i < moves.size(); ++i) {
    end_s = std::max(end_s, moves[i].at_s);
    if (i + 1 < moves.size() && moves[i].knobs != moves[i + 1].knobs) marks.push_back(chart_number(moves[i].at_s));
  }
  panels.push_back(panel("samples/s", "number", "rate", 190, points_of(moves, rate_of)));
  panels.push_back(
      panel("share of time that the consumer waits", "share", "wait", 84, points_of(moves, wait_share_of)));
  for (const KnobPanel& knob : kKnobPanels) {
    if (never_changed(moves, knob.value)) continue;
    panels.push_back(panel(knob.title, knob.unit, "knob", 64, steps_of(moves, knob.value)));
  }
  return {{{"kind", "lines"},
           {"x_unit", "seconds"},
           {"x_most", chart_number(end_s)},
           {"panels", std::move(panels)},
           {"shaded", settled_stretches(moves)},
           {"marks", std::move(marks)}},
          "Each point is a window. Shaded: settled; not shaded: searching. Faint vertical lines: the knobs changed." +
              unchanged_text(log.moves)};
}

std::vector<TuningChart> tried_settings(const TuningLog& log) {
  std::vector<TuningChart> charts;
  const std::vector<TriedSearch> searches = searches_of(log.moves);
  for (std::size_t i = searches.size(); i-- > 0 && charts.size() < kSearchesMost;) {
    const TriedRates rates = tried_rates(searches[i].moves);
    if (rates.at.empty()) continue;
    const bool last = i + 1 == searches.size();
    charts.push_back({heat_map(rates, searches[i].chosen, log.workload),
                      fmt::format("{}{}. Best: {} samples/s. Framed: the setting that {}.",
                                  i == 0 ? "From the beginning" : "From " + time_text(searches[i].from_s),
                                  last ? " on" : " to " + time_text(searches[i].to_s) + ", when something changed",
                                  number_text(rates.best), last ? "is chosen now" : "was chosen then")});
  }
  return charts;
}

}  // namespace stoker
