#include "stoker/tuner/report/tune_report_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/tuner/report/chart_scale.h"
#include "stoker/tuner/tuning_words.h"

namespace stoker {
namespace {

// Pixels of a picture that a window of common size shows whole.
constexpr double kWidth = 900, kLeft = 64, kRight = 36;
constexpr double kPlot = kWidth - kLeft - kRight;
constexpr double kTitle = 26, kAxis = 26;
constexpr double kRateHeight = 190, kWaitHeight = 84, kKnobHeight = 64;
constexpr double kText = 4;               // by which a text's base line lies beneath its middle
constexpr double kTickApart = 12;         // pixels
constexpr std::size_t kPointsMax = 1200;  // of a line; a screen is not much wider
constexpr std::size_t kDotsMax = 150;     // more would be a line by themselves

struct Point {
  double x, y;
};

struct Knob {
  int KnobSetting::*value;
  std::string_view title, name;
  bool doublings;
};
constexpr Knob kKnobs[] = {
    {&KnobSetting::threads, "threads", "threads", false},
    {&KnobSetting::transfer_index, "transfer index (stages on the CPU)", "the transfer index", false},
    {&KnobSetting::prefetch, "prefetch (batches made ahead)", "prefetch", true},
    {&KnobSetting::io_depth, "I/O depth (reads under way at once)", "the I/O depth", true}};

// As many points as can be told apart: of each stretch the least and the most, and both ends of the line.
std::vector<Point> thinned(std::vector<Point> points) {
  if (points.size() <= kPointsMax) return points;
  constexpr std::size_t kStretches = kPointsMax / 2 - 1;
  std::vector<Point> kept = {points.front()};
  for (std::size_t i = 0; i < kStretches; ++i) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(i * points.size() / kStretches);
    const auto end = points.begin() + static_cast<std::ptrdiff_t>((i + 1) * points.size() / kStretches);
    auto [least, most] = std::minmax_element(begin, end, [](const Point& a, const Point& b) { return a.y < b.y; });
    if (most < least) std::swap(least, most);
    kept.push_back(*least);
    if (most != least) kept.push_back(*most);
  }
  kept.push_back(points.back());
  return kept;
}

class TimeCharts {
 public:
  TimeCharts(const TuningLog& log, Markup& out);
  void draw();

 private:
  double height() const;
  void panel(std::string_view title, double height, const ChartScale& scale);
  void backdrop(double height);
  void line(std::string_view style, double (*of)(const TunerWindow&), double height, const ChartScale& scale);
  void steps(const Knob& knob, const ChartScale& scale);
  void time_axis();
  int most(const Knob& knob) const;
  double most(double (*of)(const TunerWindow&)) const;
  double x(double at_s) const { return kLeft + time_.at(at_s); }
  double y(const ChartScale& scale, double value, double height) const { return top_ + height - scale.at(value); }

  std::vector<const TuningMove*> moves_;  // those of which it is known when they were
  Markup& out_;
  ChartScale time_;
  double top_ = 0;  // of the panel that is drawn
  std::vector<Knob> changed_;
};

TimeCharts::TimeCharts(const TuningLog& log, Markup& out) : out_(out) {
  double end_s = 0;
  for (const TuningMove& move : log.moves) {
    if (!std::isfinite(move.at_s) || move.at_s < 0) continue;
    moves_.push_back(&move);
    end_s = std::max(end_s, move.at_s);
  }
  time_ = ChartScale::time(end_s, kPlot);
  for (const Knob& knob : kKnobs) {
    const bool changed = std::any_of(moves_.begin(), moves_.end(), [&](const TuningMove* move) {
      return move->knobs.*knob.value != moves_.front()->knobs.*knob.value;
    });
    if (changed) changed_.push_back(knob);
  }
}

double TimeCharts::height() const {
  return kTitle + kRateHeight + kTitle + kWaitHeight + static_cast<double>(changed_.size()) * (kTitle + kKnobHeight) +
         kAxis;
}

void TimeCharts::draw() {
  out_.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                    {"viewBox", fmt::format("0 0 {} {}", kWidth, height())},
                    {"class", "charts"},
                    {"role", "img"},
                    {"aria-label", "throughput, wait and knobs over time"}});
  out_.line_break();
  const ChartScale rates = ChartScale::from_zero(most(rate_of), 6, kRateHeight);
  panel("samples/s", kRateHeight, rates);
  line("rate", rate_of, kRateHeight, rates);
  top_ += kRateHeight;

  const ChartScale waits = ChartScale::share(most(wait_share_of), 5, kWaitHeight);
  panel("the consumer's wait, of its time", kWaitHeight, waits);
  line("wait", wait_share_of, kWaitHeight, waits);
  top_ += kWaitHeight;

  constexpr int kTicks = static_cast<int>(kKnobHeight / kTickApart);
  for (const Knob& knob : changed_) {
    const ChartScale scale = knob.doublings ? ChartScale::doublings(most(knob), kTicks, kKnobHeight)
                                            : ChartScale::counts(most(knob), kTicks, kKnobHeight);
    panel(knob.title, kKnobHeight, scale);
    steps(knob, scale);
    top_ += kKnobHeight;
  }
  time_axis();
  out_.close();
  out_.line_break();
}

// The title, what lies behind the lines, and the axis; top_ is moved to the plot's.
void TimeCharts::panel(std::string_view title, double height, const ChartScale& scale) {
  top_ += kTitle;
  out_.element("text", {{"x", kLeft}, {"y", top_ - 8}, {"class", "title"}}, title);
  backdrop(height);
  for (const ChartTick& tick : scale.ticks()) {
    const double at = y(scale, tick.value, height);
    out_.empty("path", {{"d", fmt::format("M{} {}h{}", kLeft, Markup::number(at), kPlot)}, {"class", "grid"}});
    out_.element("text", {{"x", kLeft - 8}, {"y", at + kText}, {"text-anchor", "end"}}, tick.label);
  }
  out_.line_break();
}

void TimeCharts::backdrop(double height) {
  constexpr double kApart = 1;  // pixels; what is nearer cannot be told apart
  struct Stretch {
    double from, to;
  };
  std::vector<Stretch> settled;
  std::string marks;
  double last_mark = -kApart;
  for (std::size_t i = 0; i + 1 < moves_.size(); ++i) {
    const double from = x(moves_[i]->at_s), to = x(moves_[i + 1]->at_s);
    if (moves_[i]->knobs != moves_[i + 1]->knobs && from >= last_mark + kApart) {
      marks += fmt::format("M{} {}v{}", Markup::number(from), top_, height);
      last_mark = from;
    }
    if (!moves_[i]->settled || to <= from) continue;
    if (settled.empty() || from > settled.back().to + kApart) settled.push_back({from, to});
    settled.back().to = to;
  }
  for (const Stretch& stretch : settled) {
    out_.empty("rect", {{"x", stretch.from},
                        {"y", top_},
                        {"width", stretch.to - stretch.from},
                        {"height", height},
                        {"class", "settled"}});
  }
  if (!marks.empty()) out_.empty("path", {{"d", marks}, {"class", "mark"}});
}

void TimeCharts::line(std::string_view style, double (*of)(const TunerWindow&), double height,
                      const ChartScale& scale) {
  std::vector<Point> points;
  for (const TuningMove* move : moves_) {
    const double value = of(move->window);
    // What was measured is of the whole window: its middle stands for it.
    const double middle_s = move->at_s - std::clamp(move->window.seconds, 0.0, move->at_s) / 2;
    if (std::isfinite(value)) points.push_back({x(middle_s), y(scale, value, height)});
  }
  points = thinned(std::move(points));
  std::string path;
  for (const Point& point : points) {
    path += fmt::format("{}{} {}", path.empty() ? 'M' : 'L', Markup::number(point.x), Markup::number(point.y));
  }
  if (!path.empty()) out_.empty("path", {{"d", path}, {"class", style}});
  if (points.size() <= kDotsMax) {
    for (const Point& point : points) {
      out_.empty("circle", {{"cx", point.x}, {"cy", point.y}, {"r", 2}, {"class", fmt::format("{} dot", style)}});
    }
  }
  out_.line_break();
}

void TimeCharts::steps(const Knob& knob, const ChartScale& scale) {
  // Where each value begins, and the end of the last.
  std::vector<Point> points;
  double from_s = 0;
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    const int value = moves_[i]->knobs.*knob.value;
    if (i == 0 || value != moves_[i - 1]->knobs.*knob.value) {
      points.push_back({x(from_s), y(scale, value, kKnobHeight)});
    }
    from_s = moves_[i]->at_s;
  }
  points.push_back({x(from_s), points.back().y});
  std::string path;
  for (const Point& point : thinned(std::move(points))) {
    const std::string across = Markup::number(point.x), down = Markup::number(point.y);
    path += path.empty() ? fmt::format("M{} {}", across, down) : fmt::format("H{}V{}", across, down);
  }
  out_.empty("path", {{"d", path}, {"class", "knob"}});
  out_.line_break();
}

void TimeCharts::time_axis() {
  for (const ChartTick& tick : time_.ticks()) {
    const double at = x(tick.value);
    out_.empty("path", {{"d", fmt::format("M{} {}v5", Markup::number(at), top_)}, {"class", "axis"}});
    out_.element("text", {{"x", at}, {"y", top_ + 18}, {"text-anchor", "middle"}}, tick.label);
  }
}

int TimeCharts::most(const Knob& knob) const {
  int most = 1;
  for (const TuningMove* move : moves_) most = std::max(most, move->knobs.*knob.value);
  return most;
}

double TimeCharts::most(double (*of)(const TunerWindow&)) const {
  double most = 0;
  for (const TuningMove* move : moves_) {
    if (const double value = of(move->window); std::isfinite(value)) most = std::max(most, value);
  }
  return most;
}

std::string unchanged_text(const TuningLog& log) {
  std::string text;
  int count = 0;
  for (const Knob& knob : kKnobs) {
    const int value = log.moves.front().knobs.*knob.value;
    const bool same = std::all_of(log.moves.begin(), log.moves.end(),
                                  [&](const TuningMove& move) { return move.knobs.*knob.value == value; });
    if (!same) continue;
    text += fmt::format("{}{} {}", count == 0 ? "" : ", ", knob.name, count_text(value));
    ++count;
  }
  return count == 0 ? "" : fmt::format("Never changed: {}.", text);
}

}  // namespace

void draw_time_charts(const TuningLog& log, Markup& out) {
  if (log.moves.empty()) return;
  out.open("figure");
  TimeCharts(log, out).draw();
  out.element("figcaption", {},
              fmt::format("Each point is a window. Shaded: settled. Faint upright lines: the knobs changed. {}",
                          unchanged_text(log)));
  out.close();
  out.line_break();
}

}  // namespace stoker
