#include "stoker/tuner/report/tune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "stoker/base/units.h"
#include "stoker/page/report_page.h"
#include "stoker/tuner/report/tuning_charts.h"
#include "stoker/tuner/statistics.h"
#include "stoker/tuner/tuning_words.h"

namespace stoker {
namespace {

constexpr std::size_t kFirstWindows = 5, kLastWindows = 10;  // that the verdict is of, at most
constexpr double kAsBefore = 0.02;                           // rates that differ by less are called the same
constexpr double kWorthAWord = 1.1;                          // steps that differ by less are not worth a word

// Of several windows of one setting.
struct Pace {
  std::vector<const TunerWindow*> windows;

  double rate() const;
  double wait_share() const;
  double busy_s() const;  // of the consumer with a sample
};

double Pace::rate() const {
  std::vector<double> rates;
  for (const TunerWindow* window : windows) {
    if (const double rate = rate_of(*window); std::isfinite(rate)) rates.push_back(rate);
  }
  if (rates.empty()) return std::numeric_limits<double>::quiet_NaN();
  return median(std::move(rates));
}

double Pace::wait_share() const {
  double wait_s = 0, seconds = 0;
  for (const TunerWindow* window : windows) {
    const double share = wait_share_of(*window);
    if (!std::isfinite(share)) continue;
    wait_s += share * window->seconds;
    seconds += window->seconds;
  }
  return wait_s / seconds;
}

double Pace::busy_s() const { return (1 - wait_share()) / rate(); }

std::string pace_text(const Pace& pace) {
  return fmt::format("{} samples/s, and the consumer waits {} of the time", number_text(pace.rate()),
                     share_text(pace.wait_share()));
}

// The first few windows, if they were of one setting.
Pace first_pace(const TuningLog& log) {
  Pace pace;
  for (const TuningMove& move : log.moves) {
    if (move.knobs != log.moves.front().knobs || pace.windows.size() == kFirstWindows) break;
    pace.windows.push_back(&move.window);
  }
  return pace;
}

// The last few of what is chosen now, among moves.
Pace last_pace(std::span<const TuningMove> moves, const KnobSetting& chosen) {
  Pace pace;
  for (std::size_t i = moves.size(); i-- > 0 && pace.windows.size() < kLastWindows;) {
    if (moves[i].knobs == chosen) pace.windows.push_back(&moves[i].window);
  }
  return pace;
}

std::string change_text(const Pace& before, const Pace& now) {
  const double change = now.rate() / before.rate() - 1, slower = now.busy_s() / before.busy_s();
  if (!std::isfinite(change)) return "";
  std::string text =
      std::abs(change) < kAsBefore
          ? "; the rate is unchanged"
          : fmt::format("; the rate has {} by {:.0f}%", change > 0 ? "grown" : "fallen", 100 * std::abs(change));
  // That is not the loader's doing.
  if (slower > kWorthAWord || slower < 1 / kWorthAWord) {
    text += fmt::format(", and the training's own steps take {:.2g} times as long", slower);
  }
  return text;
}

std::string verdict(const TuningLog& log) {
  if (log.moves.empty()) {
    return fmt::format("No window has been measured yet. The tuner begins with {}.",
                       knobs_text(log.first, has_device(log.workload)));
  }
  const TuningMove& last = log.moves.back();
  const KnobSetting chosen = last.settled_on.value_or(last.next);
  const Pace first = first_pace(log);
  const std::span<const TuningMove> later = std::span(log.moves).subspan(first.windows.size());
  Pace now = last_pace(later, chosen);
  const bool comparable = !now.windows.empty();
  if (!comparable) now = last_pace(log.moves, chosen);
  std::string text = fmt::format("{} {}: ", last.settled_on ? "Settled on" : "Still searching, now with",
                                 knobs_text(chosen, has_device(log.workload)));
  if (now.windows.empty()) {
    return text + fmt::format("not measured yet. The last window, with {}: {}.",
                              knobs_text(last.knobs, has_device(log.workload)), pace_text({{&last.window}}));
  }
  text += pace_text(now) + ".";
  if (!comparable) return text;
  return text + fmt::format(" At first, with {}, it was {} samples/s and {}{}.",
                            chosen == log.moves.front().knobs
                                ? "the same knobs"
                                : knobs_text(log.moves.front().knobs, has_device(log.workload)),
                            number_text(first.rate()), share_text(first.wait_share()), change_text(first, now));
}

// What the run was: machine, work, how long.
std::string facts(const TuningLog& log) {
  const TunedWorkload& work = log.workload;
  std::string text = fmt::format("{}, batches of {}", counted(work.cores, "core"), count_text(work.batch));
  if (work.memory_bytes > 0) {
    text += fmt::format(", {} of memory for them", format_size(static_cast<double>(work.memory_bytes)));
  }
  for (std::size_t i = 0; i < work.stages.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "; stages: " : ", ", work.stages[i].name);
  }
  if (!log.moves.empty()) {
    text += fmt::format("; {} in {}", counted(log.moves.size(), "window"), time_text(log.moves.back().at_s));
  }
  if (log.left_out > 0) {
    text += fmt::format("; {} without a change are left out", counted(log.left_out, "window"));
  }
  return text + ".";
}

// The sentence that the move's window ran under.
const std::string& why_before(const TuningLog& log, std::size_t move) {
  return move == 0 ? log.first_why : log.moves[move - 1].why;
}

bool nothing_happened(const TuningLog& log, std::size_t move) {
  const TuningMove& it = log.moves[move];
  return it.settled_on && it.next == it.knobs && it.why == why_before(log, move);
}

std::string range_text(std::span<const TuningMove> moves, double (*of)(const TunerWindow&),
                       std::string (*text)(double)) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const TuningMove& move : moves) {
    const double value = of(move.window);
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  if (least > most) return kUnknown;
  const std::string from = text(least), to = text(most);
  return from == to ? from : fmt::format("{} to {}", from, to);
}

PageTable::Row move_row(const TuningMove& move, const KnobSetting& before) {
  PageTable::Row row{{{time_text(move.at_s)}}};
  for (const auto knob :
       {&KnobSetting::threads, &KnobSetting::transfer_index, &KnobSetting::prefetch, &KnobSetting::io_depth}) {
    row.cells.push_back({count_text(move.knobs.*knob), move.knobs.*knob != before.*knob});
  }
  row.cells.push_back({number_text(rate_of(move.window))});
  row.cells.push_back({share_text(wait_share_of(move.window))});
  row.cells.push_back({move.why});
  return row;
}

PageTable::Row quiet_row(std::span<const TuningMove> moves) {
  const std::string text =
      fmt::format("{} as before, {} samples/s, waiting {}", counted(moves.size(), "window"),
                  range_text(moves, rate_of, number_text), range_text(moves, wait_share_of, share_text));
  return {{{time_text(moves.back().at_s)}, {text, false, 7}}, true};
}

PageTable moves_table(const TuningLog& log) {
  PageTable table{{{"until"},
                   {"threads"},
                   {"index"},
                   {"prefetch"},
                   {"depth"},
                   {"samples/s"},
                   {"wait"},
                   {"next move, and why", ""}}};
  table.rows.push_back({{{"0"}, {"", false, 6}, {log.first_why}}});
  const std::span<const TuningMove> moves = log.moves;
  for (std::size_t i = 0; i < moves.size();) {
    std::size_t end = i;
    while (end < moves.size() && nothing_happened(log, end)) ++end;
    if (end > i) {
      table.rows.push_back(quiet_row(moves.subspan(i, end - i)));
      i = end;
    } else {
      table.rows.push_back(move_row(moves[i], i == 0 ? log.first : moves[i - 1].knobs));
      ++i;
    }
  }
  return table;
}

}  // namespace

std::string tune_report_html(const TuningLog& log) {
  ReportPage page(log.title.empty() ? "How the loader was tuned" : log.title);
  page.paragraph(verdict(log), "verdict");
  if (!log.moves.empty()) page.paragraph(fmt::format("The tuner's last message: {}.", log.moves.back().why));
  page.paragraph(facts(log), "remark");
  if (!log.moves.empty()) {
    const TuningChart chart = tuning_over_time(log);
    page.chart(chart.data, "throughput, wait and knobs over time", chart.caption);
  }
  if (const std::vector<TuningChart> tried = tried_settings(log); !tried.empty()) {
    page.heading("What was tried");
    for (const TuningChart& chart : tried) {
      page.chart(chart.data, "throughput by threads and transfer index", chart.caption);
    }
    page.paragraph(
        "Each cell shows the median of its windows, at any prefetch and I/O depth, in samples/s, or in percent of the "
        "best if there is no room; and the number of windows. The color shows the median relative to the best. Empty "
        "cells were not tried.",
        "remark");
  }
  page.heading("Every move");
  page.table(moves_table(log));
  return page.html();
}

}  // namespace stoker
