#include "stoker/tuner/report/tune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/units.h"
#include "stoker/tuner/report/markup.h"
#include "stoker/tuner/report/tune_report_charts.h"
#include "stoker/tuner/report/tune_report_heat_map.h"
#include "stoker/tuner/report/tune_report_style.h"
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
  std::sort(rates.begin(), rates.end());
  return (rates[(rates.size() - 1) / 2] + rates[rates.size() / 2]) / 2;
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
          ? "; the rate is as it was"
          : fmt::format("; the rate has {} by {:.0f}%", change > 0 ? "grown" : "fallen", 100 * std::abs(change));
  // That is no doing of the loader.
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
  const Pace first = first_pace(log);
  const std::span<const TuningMove> later = std::span(log.moves).subspan(first.windows.size());
  Pace now = last_pace(later, last.next);
  const bool comparable = !now.windows.empty();
  if (!comparable) now = last_pace(log.moves, last.next);
  std::string text = fmt::format("{} {}: ", last.settled ? "Settled on" : "Still looking, now with",
                                 knobs_text(last.next, has_device(log.workload)));
  if (now.windows.empty()) {
    return text + fmt::format("not measured yet. The last window, with {}: {}.",
                              knobs_text(last.knobs, has_device(log.workload)), pace_text({{&last.window}}));
  }
  text += pace_text(now) + ".";
  if (!comparable) return text;
  return text + fmt::format(" At first, with {}, it was {} samples/s and {}{}.",
                            last.next == log.moves.front().knobs
                                ? "the same"
                                : knobs_text(log.moves.front().knobs, has_device(log.workload)),
                            number_text(first.rate()), share_text(first.wait_share()), change_text(first, now));
}

// What the run was: machine, work, how long.
std::string facts(const TuningLog& log) {
  const TunedWorkload& work = log.workload;
  std::string text = fmt::format("{} {}, batches of {}", count_text(work.cores), work.cores == 1 ? "core" : "cores",
                                 count_text(work.batch));
  if (work.memory_bytes > 0) {
    text += fmt::format(", {} of memory for them", format_size(static_cast<double>(work.memory_bytes)));
  }
  for (std::size_t i = 0; i < work.stages.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "; stages: " : ", ", work.stages[i].name);
  }
  if (!log.moves.empty()) {
    text += fmt::format("; {} in {}", windows_text(static_cast<std::int64_t>(log.moves.size())),
                        time_text(log.moves.back().at_s));
  }
  if (log.left_out > 0) {
    text += fmt::format("; {} of quiet times are left out", windows_text(log.left_out));
  }
  return text + ".";
}

// The sentence that the move's window ran under.
const std::string& why_before(const TuningLog& log, std::size_t move) {
  return move == 0 ? log.first_why : log.moves[move - 1].why;
}

bool nothing_happened(const TuningLog& log, std::size_t move) {
  const TuningMove& it = log.moves[move];
  return it.settled && it.next == it.knobs && it.why == why_before(log, move);
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

void write_move(const TuningMove& move, const KnobSetting& before, Markup& out) {
  out.open("tr");
  out.element("td", {{"class", "number"}}, time_text(move.at_s));
  for (const auto knob :
       {&KnobSetting::threads, &KnobSetting::transfer_index, &KnobSetting::prefetch, &KnobSetting::io_depth}) {
    out.element("td", {{"class", move.knobs.*knob == before.*knob ? "number" : "number new"}},
                count_text(move.knobs.*knob));
  }
  out.element("td", {{"class", "number"}}, number_text(rate_of(move.window)));
  out.element("td", {{"class", "number"}}, share_text(wait_share_of(move.window)));
  out.element("td", {}, move.why);
  out.close();
  out.line_break();
}

void write_quiet(std::span<const TuningMove> moves, Markup& out) {
  out.open("tr", {{"class", "quiet"}});
  out.element("td", {{"class", "number"}}, time_text(moves.back().at_s));
  out.element(
      "td", {{"colspan", 7}},
      fmt::format("{} as before, {} samples/s, waiting {}", windows_text(static_cast<std::int64_t>(moves.size())),
                  range_text(moves, rate_of, number_text), range_text(moves, wait_share_of, share_text)));
  out.close();
  out.line_break();
}

void write_moves(const TuningLog& log, Markup& out) {
  out.element("h2", {}, "Every move");
  out.open("table");
  out.open("thead");
  out.open("tr");
  for (const std::string_view head : {"until", "threads", "index", "prefetch", "depth", "samples/s", "wait"}) {
    out.element("th", {{"scope", "col"}, {"class", "number"}}, head);
  }
  out.element("th", {{"scope", "col"}}, "what followed, and why");
  out.close();
  out.close();
  out.line_break();
  out.open("tbody");
  out.open("tr");
  out.element("td", {{"class", "number"}}, "0");
  out.element("td", {{"colspan", 6}}, "");
  out.element("td", {}, log.first_why);
  out.close();
  out.line_break();
  const std::span<const TuningMove> moves = log.moves;
  for (std::size_t i = 0; i < moves.size();) {
    std::size_t end = i;
    while (end < moves.size() && nothing_happened(log, end)) ++end;
    if (end > i) {
      write_quiet(moves.subspan(i, end - i), out);
      i = end;
    } else {
      write_move(moves[i], i == 0 ? log.first : moves[i - 1].knobs, out);
      ++i;
    }
  }
  out.close();
  out.close();
  out.line_break();
}

}  // namespace

std::string tune_report_html(const TuningLog& log) {
  const std::string title = log.title.empty() ? "How the loader was tuned" : log.title;
  Markup out;
  out.raw("<!DOCTYPE html>\n");
  out.open("html", {{"xmlns", "http://www.w3.org/1999/xhtml"}, {"lang", "en"}});
  out.open("head");
  out.empty("meta", {{"charset", "utf-8"}});
  out.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  out.element("title", {}, title);
  out.open("style");
  out.raw(kTuneReportStyle);
  out.close();
  out.close();
  out.line_break();
  out.open("body");
  out.element("h1", {}, title);
  out.element("p", {{"class", "verdict"}}, verdict(log));
  if (!log.moves.empty()) out.element("p", {}, fmt::format("The tuner's last word: {}.", log.moves.back().why));
  out.element("p", {{"class", "facts"}}, facts(log));
  out.line_break();
  draw_time_charts(log, out);
  draw_tried(log, out);
  write_moves(log, out);
  out.close();
  out.close();
  out.line_break();
  return out.take();
}

}  // namespace stoker
