#include "stoker/tuner/report/tune_report_heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/tuner/report/chart_scale.h"
#include "stoker/tuner/statistics.h"
#include "stoker/tuner/tuning_words.h"

namespace stoker {
namespace {

constexpr double kCellHeight = 40, kGap = 2, kTop = 46, kAside = 16;
constexpr double kCellLeast = 38, kCellMost = 88;    // that a figure needs, and no more than looks well
constexpr double kMapWidth = 900, kLeftLeast = 140;  // the title has to stand there
constexpr int kColumnsEach = 16;                     // up to here every number of threads has its column
constexpr std::size_t kNameMost = 18;
constexpr std::size_t kSearchesMost = 3;

// Of the best: coarse where it does not matter any more.
struct Class {
  double least;
  std::string_view label;
};
constexpr std::array<Class, 6> kClasses{{{0.98, "98% or more"},
                                         {0.95, "95–98%"},
                                         {0.9, "90–95%"},
                                         {0.75, "75–90%"},
                                         {0.5, "50–75%"},
                                         {0, "less than 50%"}}};
std::string class_of(double share) {
  const auto* const found =
      std::find_if(kClasses.begin(), kClasses.end(), [&](const Class& of) { return share >= of.least; });
  return fmt::format("heat{}", std::distance(kClasses.begin(), found == kClasses.end() ? found - 1 : found));
}

std::string shortened(const std::string& name) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(name[i]) & 0xC0U) != 0x80;
    if (begins && ++characters > kNameMost) return name.substr(0, i) + "…";
  }
  return name;
}

struct Tried {
  double rate;
  std::int64_t windows;
};

// The windows from one start of the search to the next, and what came of it.
struct Search {
  std::span<const TuningMove> moves;
  double from_s, to_s;
  KnobSetting chosen;
};

// Only where something has changed is a tuner that had settled so no more.
std::vector<Search> searches_of(const TuningLog& log) {
  std::vector<Search> searches;
  const std::span<const TuningMove> moves = log.moves;
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= moves.size(); ++i) {
    const bool reopened = i < moves.size() && moves[i - 1].settled && !moves[i].settled;
    if (!reopened && i < moves.size()) continue;
    // The window in which it was noticed is still of the search before.
    const std::size_t end = std::min(i + 1, moves.size());
    searches.push_back({moves.subspan(begin, end - begin), begin == 0 ? 0 : moves[begin - 1].at_s, moves[end - 1].at_s,
                        moves[i - 1].next});
    begin = end;
  }
  return searches;
}

class HeatMap {
 public:
  HeatMap(const TuningLog& log, const Search& search, Markup& out);
  bool has_any() const { return !tried_.empty(); }
  void draw(bool legend);
  double best() const { return best_; }

 private:
  using Place = std::pair<int, int>;  // threads, index

  void find_places();
  double x(std::size_t column) const { return left_ + static_cast<double>(column) * cell_; }
  static double y(std::size_t row) { return kTop + static_cast<double>(row) * kCellHeight; }
  std::string row_label(int index) const;
  void labels();
  void cell(std::size_t column, std::size_t row);
  void draw_legend(double top);

  const TuningLog& log_;
  Markup& out_;
  Place chosen_;
  std::map<Place, Tried> tried_;
  double best_ = 0;
  std::vector<int> threads_, indices_;  // of columns and rows
  double left_ = 0, cell_ = 0;
};

HeatMap::HeatMap(const TuningLog& log, const Search& search, Markup& out)
    : log_(log), out_(out), chosen_(search.chosen.threads, search.chosen.transfer_index) {
  std::map<Place, std::vector<double>> rates;
  for (const TuningMove& move : search.moves) {
    const double rate = rate_of(move.window);
    if (std::isfinite(rate)) rates[{move.knobs.threads, move.knobs.transfer_index}].push_back(rate);
  }
  for (const auto& [place, all] : rates) {
    tried_[place] = {median(all), static_cast<std::int64_t>(all.size())};
    best_ = std::max(best_, tried_[place].rate);
  }
  if (has_any()) find_places();
}

void HeatMap::find_places() {
  std::set<int> threads = {chosen_.first}, indices = {chosen_.second};
  for (const auto& [place, tried] : tried_) {
    threads.insert(place.first);
    indices.insert(place.second);
  }
  if (*threads.rbegin() - *threads.begin() < kColumnsEach) {
    for (int each = *threads.begin(); each < *threads.rbegin(); ++each) threads.insert(each);
  }
  // An index that was possible and never tried has its row, too.
  int index = static_cast<int>(log_.workload.stages.size());
  if (index > 0) indices.insert(index);
  while (index > 0 && log_.workload.stages[static_cast<std::size_t>(index - 1)].device_s) indices.insert(--index);
  threads_.assign(threads.begin(), threads.end());
  indices_.assign(indices.begin(), indices.end());

  left_ = kLeftLeast;
  for (const int row : indices_) left_ = std::max(left_, label_width(row_label(row)) + kAside);
  cell_ = std::clamp((kMapWidth - left_) / static_cast<double>(threads_.size()), kCellLeast, kCellMost);
}

// An index is a place between two stages.
std::string HeatMap::row_label(int index) const {
  const auto& stages = log_.workload.stages;
  if (stages.empty() || index < 0 || static_cast<std::size_t>(index) > stages.size()) return count_text(index);
  if (index == 0) return "0: before all stages";
  return fmt::format("{}: after {}", index, shortened(stages[static_cast<std::size_t>(index - 1)].name));
}

void HeatMap::draw(bool legend) {
  const double legend_top = y(indices_.size()) + kAside;
  const double width = std::max(kMapWidth, x(threads_.size())), height = legend_top + (legend ? 2 * kAside : 0);
  out_.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                    {"viewBox", fmt::format("0 0 {} {}", Markup::number(width), height)},
                    {"style", fmt::format("min-width:{}px", Markup::number(width))},  // rather scrolled than too small
                    {"class", "tried"},
                    {"role", "img"},
                    {"aria-label", "throughput by threads and transfer index"}});
  out_.line_break();
  labels();
  for (std::size_t row = 0; row < indices_.size(); ++row) {
    for (std::size_t column = 0; column < threads_.size(); ++column) cell(column, row);
    out_.line_break();
  }
  if (legend) draw_legend(legend_top);
  out_.close();
  out_.line_break();
}

void HeatMap::labels() {
  out_.element("text",
               {{"x", (left_ + x(threads_.size())) / 2}, {"y", 16}, {"class", "title"}, {"text-anchor", "middle"}},
               "threads");
  out_.element("text", {{"x", left_ - kAside / 2}, {"y", 16}, {"class", "title"}, {"text-anchor", "end"}},
               "transfer index");
  for (std::size_t column = 0; column < threads_.size(); ++column) {
    out_.element("text", {{"x", x(column) + cell_ / 2}, {"y", kTop - 8}, {"text-anchor", "middle"}},
                 count_text(threads_[column]));
  }
  for (std::size_t row = 0; row < indices_.size(); ++row) {
    out_.element("text", {{"x", left_ - kAside / 2}, {"y", y(row) + kCellHeight / 2 + 4}, {"text-anchor", "end"}},
                 row_label(indices_[row]));
  }
}

void HeatMap::cell(std::size_t column, std::size_t row) {
  const Place place = {threads_[column], indices_[row]};
  const auto found = tried_.find(place);
  const double left = x(column), top = y(row), width = cell_ - kGap, height = kCellHeight - kGap;
  const double middle = left + width / 2;
  if (found == tried_.end()) {
    out_.empty("rect", {{"x", left}, {"y", top}, {"width", width}, {"height", height}, {"class", "untried"}});
  } else {
    const auto& [rate, windows] = found->second;
    const double share = best_ > 0 ? rate / best_ : 0;
    const std::string whole = number_text(rate);
    out_.open("g", {{"class", class_of(share)}});
    out_.element(
        "title", {},
        fmt::format("{} {}{}: {} samples/s, {} of the best, {}", place.first, place.first == 1 ? "thread" : "threads",
                    has_device(log_.workload) ? fmt::format(" at index {}", place.second) : "", whole,
                    share_text(share), windows_text(windows)));
    out_.empty("rect", {{"x", left}, {"y", top}, {"width", width}, {"height", height}});
    out_.element("text", {{"x", middle}, {"y", top + 17}, {"text-anchor", "middle"}},
                 label_width(whole) <= width ? whole : fmt::format("{:.0f}%", 100 * share));
    out_.element("text", {{"x", middle}, {"y", top + 31}, {"text-anchor", "middle"}, {"class", "small"}},
                 "×" + count_text(windows));
    out_.close();
  }
  if (place == chosen_) {
    out_.empty("rect", {{"x", left}, {"y", top}, {"width", width}, {"height", height}, {"class", "chosen"}});
  }
}

void HeatMap::draw_legend(double top) {
  constexpr double kSquare = 14;
  double at = left_;
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    out_.open("g", {{"class", fmt::format("heat{}", i)}});
    out_.empty("rect", {{"x", at}, {"y", top}, {"width", kSquare}, {"height", kSquare}});
    out_.close();
    const std::string label(kClasses[i].label);
    out_.element("text", {{"x", at + kSquare + 5}, {"y", top + 11}}, label);
    at += kSquare + 5 + label_width(label) + kAside;
  }
}

}  // namespace

void draw_tried(const TuningLog& log, Markup& out) {
  const std::vector<Search> searches = searches_of(log);
  std::size_t drawn = 0;
  for (std::size_t i = searches.size(); i-- > 0 && drawn < kSearchesMost;) {
    HeatMap map(log, searches[i], out);
    if (!map.has_any()) continue;
    if (drawn == 0) out.element("h2", {}, "What was tried");
    const bool last = i + 1 == searches.size();
    const std::string from = i == 0 ? "From the beginning" : "From " + time_text(searches[i].from_s);
    out.open("figure");
    out.open("div", {{"class", "wide"}});
    map.draw(drawn == 0);
    out.close();
    out.element("figcaption", {},
                fmt::format("{}{}. Best: {} samples/s. Framed: what {}.", from,
                            last ? " on" : " to " + time_text(searches[i].to_s) + ", when something changed",
                            number_text(map.best()), last ? "is chosen now" : "was chosen then"));
    out.close();
    out.line_break();
    ++drawn;
  }
  if (drawn == 0) return;
  out.element(
      "p", {{"class", "facts"}},
      "In a cell, the median of its windows whatever prefetch and I/O depth were, in samples/s, or in percent of "
      "the best where there is no room; and how many windows they were. Its color is the median against the "
      "best. Empty: not tried.");
  out.line_break();
}

}  // namespace stoker
