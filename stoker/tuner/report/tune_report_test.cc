#include "stoker/tuner/report/tune_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/page/xml_testing.h"
#include "stoker/tuner/report/tuning_charts.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using ChartData = nlohmann::ordered_json;

constexpr KnobSetting kFew = {.threads = 1, .transfer_index = 2, .prefetch = 4, .io_depth = 8};
constexpr KnobSetting kMore = {.threads = 3, .transfer_index = 2, .prefetch = 4, .io_depth = 8};
constexpr KnobSetting kOther = {.threads = 3, .transfer_index = 1, .prefetch = 4, .io_depth = 8};

TuningLog empty_log() {
  TuningLog log;
  log.title = "photos";
  log.workload.cores = 4;
  log.workload.batch = 64;
  log.workload.stages = {{.name = "decode", .cpu_s = 1e-3, .bytes_out = 1e5},
                         {.name = "finish", .cpu_s = 1e-4, .device_s = 1e-5, .bytes_out = 1e5}};
  log.first = kFew;
  log.first_why = "begins somewhere";
  return log;
}

// A window of ten seconds.
void add(TuningLog& log, const KnobSetting& knobs, double rate, double wait_share, const KnobSetting& next,
         const std::string& why, bool settled = false) {
  const double at_s = log.moves.empty() ? 0 : log.moves.back().at_s;
  TuningMove& move = log.moves.emplace_back();
  move.at_s = at_s + 10;
  move.knobs = knobs;
  move.window = {
      .samples = std::llround(10 * rate), .seconds = 10, .wait_s = 10 * wait_share, .step_s = 0, .stages = {}};
  move.next = next;
  move.why = why;
  if (settled) move.settled_on = next;
}

// Searches for three windows, and stays with what it found for twenty.
TuningLog usual_log() {
  TuningLog log = empty_log();
  add(log, kFew, 1000, 0.5, kMore, "tries more");
  add(log, kMore, 2000, 0.003, kOther, "tries another");
  add(log, kOther, 800, 0.6, kMore, "stays with more", true);
  for (int i = 0; i < 20; ++i) add(log, kMore, 2000 + i, 0.004, kMore, "stays with more", true);
  return log;
}

std::string well_formed(const TuningLog& log) {
  const std::string html = tune_report_html(log);
  EXPECT_EQ(xml_fault(html), "");
  return html;
}

std::size_t count(const std::string& text, const std::string& of) {
  std::size_t found = 0;
  for (std::size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++found;
  return found;
}

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find(to, begin) - begin);
}
std::string verdict(const std::string& html) { return between(html, R"(<p class="verdict">)", "</p>"); }

// As the page has them.
ChartData charts(const std::string& html) {
  const std::string mark = R"(<script id="charts" type="application/json">)", found = between(html, mark, "</script>");
  return ChartData::parse(found.substr(mark.size()));
}

// Of the chart over time.
ChartData panel(const TuningLog& log, std::string_view title) {
  const TuningChart chart = tuning_over_time(log);
  for (const ChartData& panel : chart.data["panels"]) {
    if (panel["title"] == title) return panel;
  }
  return nullptr;
}

// Of each cell, in order.
std::vector<std::string> all_of(const ChartData& map, const char* of) {
  std::vector<std::string> found;
  for (const ChartData& cell : map["cells"]) found.push_back(cell[of]);
  return found;
}

TEST(TuneReport, SettledOnWhatIsNotTriedForOneWindowAlone) {
  TuningLog log = usual_log();
  const std::string settled = verdict(well_formed(log));
  EXPECT_THAT(settled, HasSubstr("Settled on"));
  TuningMove& last = log.moves.back();
  last.settled_on = std::exchange(last.next, kOther);
  EXPECT_EQ(verdict(well_formed(log)), settled);
}

TEST(TuneReport, HasItsChartsAsDataInTheOrderInWhichTheyStand) {
  const ChartData drawn = charts(well_formed(usual_log()));
  ASSERT_EQ(drawn.size(), 2U);
  EXPECT_EQ(drawn[0], tuning_over_time(usual_log()).data);
  EXPECT_EQ(drawn[1], tried_settings(usual_log()).at(0).data);
}

TEST(TuneReport, SaysFirstHowItWentAgainstTheFirstWindows) {
  const std::string said = verdict(well_formed(usual_log()));
  EXPECT_THAT(said, HasSubstr("Settled on 3 threads at index 2, prefetch 4, I/O depth 8: 2,015 samples/s"));
  EXPECT_THAT(said, HasSubstr("the consumer waits 0.4% of the time"));
  EXPECT_THAT(said,
              HasSubstr("At first, with 1 thread at index 2, prefetch 4, I/O depth 8, it was 1,000 samples/s and 50%"));
  EXPECT_THAT(said, HasSubstr("the rate has grown by 101%"));
  EXPECT_THAT(said, Not(HasSubstr("training's own steps")));
}

TEST(TuneReport, SaysWhenItIsTheTrainingThatBecameSlower) {
  TuningLog log = empty_log();
  for (int i = 0; i < 6; ++i) add(log, kMore, 2000, 0, kMore, "stays", true);
  for (int i = 0; i < 10; ++i) add(log, kMore, 500, 0, kMore, "stays", true);
  const std::string said = verdict(well_formed(log));
  EXPECT_THAT(said, HasSubstr("the rate has fallen by 75%, and the training's own steps take 4 times as long"));
}

TEST(TuneReport, SaysThatItIsStillLooking) {
  TuningLog log = empty_log();
  add(log, kFew, 1000, 0.5, kMore, "tries more");
  EXPECT_THAT(verdict(well_formed(log)),
              HasSubstr("Still searching, now with 3 threads at index 2, prefetch 4, I/O depth 8: not measured yet. "
                        "The last window, with 1 thread at index 2, prefetch 4, I/O depth 8: 1,000 samples/s"));
}

TEST(TuneReport, IsSaneWithoutAnyMove) {
  const std::string html = well_formed(empty_log());
  EXPECT_THAT(verdict(html), HasSubstr("No window has been measured yet. The tuner begins with 1 thread at index 2"));
  EXPECT_THAT(html, HasSubstr("begins somewhere"));
  EXPECT_TRUE(charts(html).empty());
  EXPECT_THAT(well_formed({}), HasSubstr("No window has been measured yet"));
}

TEST(TuneReport, IsSaneWithOneMove) {
  TuningLog log = empty_log();
  add(log, kFew, 1000, 0.5, kFew, "again");
  const std::string html = well_formed(log);
  EXPECT_EQ(panel(log, "samples/s")["points"], ChartData::parse("[[5, 1000]]"));
  EXPECT_THAT(html, HasSubstr("Never changed: threads 1, the transfer index 2, prefetch 4, the I/O depth 8."));
  EXPECT_THAT(verdict(html), Not(HasSubstr("At first")));
}

TEST(TuneReport, DrawsEachWindowInItsMiddle) {
  const ChartData points = panel(usual_log(), "samples/s")["points"];
  ASSERT_EQ(points.size(), 23U);
  EXPECT_EQ(points[0], ChartData::parse("[5, 1000]"));
  EXPECT_EQ(points[1], ChartData::parse("[15, 2000]"));
  EXPECT_EQ(panel(usual_log(), "share of time that the consumer waits")["points"][1], ChartData::parse("[15, 0.003]"));
  EXPECT_EQ(tuning_over_time(usual_log()).data["x_most"], 230);
}

TEST(TuneReport, DrawsKnobsThatChangedAndTellsOfThoseThatDidNot) {
  const TuningChart chart = tuning_over_time(usual_log());
  std::vector<std::string> titles;
  for (const ChartData& panel : chart.data["panels"]) titles.push_back(panel["title"]);
  EXPECT_THAT(titles, ElementsAre("samples/s", "share of time that the consumer waits", "threads",
                                  "transfer index (stages on the CPU)"));
  EXPECT_THAT(chart.caption, HasSubstr("Never changed: prefetch 4, the I/O depth 8."));
  // From one thread to three after 10 s of 230; from index 2 to 1 and back after 20 and 30 s.
  EXPECT_EQ(panel(usual_log(), "threads")["points"], ChartData::parse("[[0, 1], [10, 3], [230, 3]]"));
  EXPECT_EQ(panel(usual_log(), "transfer index (stages on the CPU)")["points"],
            ChartData::parse("[[0, 2], [20, 1], [30, 2], [230, 2]]"));
}

TEST(TuneReport, MarksChangesAndShadesWhatIsSettled) {
  const ChartData chart = tuning_over_time(usual_log()).data;
  EXPECT_EQ(chart["marks"], ChartData::parse("[10, 20, 30]"));
  EXPECT_EQ(chart["shaded"], ChartData::parse("[[30, 230]]"));
}

TEST(TuneReport, ColorsWhatWasTriedByItsMedianAndFramesTheChosen) {
  TuningLog log = empty_log();
  for (const double rate : {10.0, 1000.0, 900.0}) add(log, kFew, rate, 0.5, kMore, "goes on");
  add(log, kMore, 1000, 0, kOther, "goes on");
  add(log, kOther, 400, 0, kMore, "chooses more");
  const TuningChart chart = tried_settings(log).at(0);
  EXPECT_THAT(all_of(chart.data, "about"),
              ElementsAre("3 threads at index 1: 400 samples/s, 40% of the best, 1 window",
                          "1 thread at index 2: 900 samples/s, 90% of the best, 3 windows",
                          "3 threads at index 2: 1,000 samples/s, 100% of the best, 1 window"));
  EXPECT_EQ(chart.data["cells"][1], ChartData::parse(R"({"row": 1, "column": 0, "share": 0.9, "text": "900",
      "note": "×3", "about": "1 thread at index 2: 900 samples/s, 90% of the best, 3 windows"})"));
  EXPECT_EQ(chart.data["rows"], ChartData::parse(R"(["1: after decode", "2: after finish"])"));
  EXPECT_EQ(chart.data["columns"], ChartData::parse(R"(["1", "2", "3"])"));
  EXPECT_EQ(chart.data["framed"], ChartData::parse("[1, 2]"));  // where three threads at index 2 are
  EXPECT_THAT(chart.caption, HasSubstr("Best: 1,000 samples/s"));
}

TEST(TuneReport, HasOneRowWhereThereIsOneIndex) {
  TuningLog log = empty_log();
  log.workload.stages[1].device_s.reset();
  add(log, kFew, 1000, 0.5, kMore, "goes on");
  add(log, kMore, 2000, 0.5, kMore, "goes on");
  EXPECT_EQ(tried_settings(log).at(0).data["rows"], ChartData::parse(R"(["2: after finish"])"));
}

TEST(TuneReport, DoesNotCompareWhatWasTriedBeforeAChangeWithWhatWasTriedAfterIt) {
  TuningLog log = usual_log();
  add(log, kMore, 500, 0, kMore, "looks again");
  add(log, kMore, 500, 0, kFew, "tries few");
  add(log, kFew, 490, 0, kFew, "stays with few", true);
  const std::vector<TuningChart> tried = tried_settings(log);
  ASSERT_EQ(tried.size(), 2U);
  EXPECT_THAT(all_of(tried[0].data, "about"),
              ElementsAre("1 thread at index 2: 490 samples/s, 98% of the best, 1 window",
                          "3 threads at index 2: 500 samples/s, 100% of the best, 1 window"));
  EXPECT_THAT(all_of(tried[1].data, "about"),
              ElementsAre("3 threads at index 1: 800 samples/s, 40% of the best, 1 window",
                          "1 thread at index 2: 1,000 samples/s, 50% of the best, 1 window",
                          "3 threads at index 2: 2,009 samples/s, 100% of the best, 22 windows"));
  EXPECT_THAT(tried[0].caption, HasSubstr("From 4 min 00 s on. Best: 500 samples/s."));
  EXPECT_THAT(tried[1].caption,
              HasSubstr("From the beginning to 4 min 00 s, when something changed. Best: 2,009 samples/s."));
  EXPECT_EQ(charts(well_formed(log)).size(), 3U);
}

TEST(TuneReport, TellsEveryMoveWithItsReason) {
  TuningLog log = empty_log();
  add(log, kFew, 1000, 0.5, kMore, "tries <b>more</b> & \"better\"");
  add(log, kMore, 2000, 0.003, kMore, "stays", true);
  const std::string html = well_formed(log);
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  std::string first;
  for (const char* const text : {"10.0 s", "1", "2", "4", "8", "1,000", "50%"}) {
    first += fmt::format(R"(<td class="number">{}</td>)", text);
  }
  first += R"(<td>tries &lt;b&gt;more&lt;/b&gt; &amp; &quot;better&quot;</td>)";
  EXPECT_THAT(html, HasSubstr("<tr>" + first + "</tr>"));
  EXPECT_THAT(html, HasSubstr(R"(<td class="number">20.0 s</td><td class="number new">3</td>)"
                              R"(<td class="number">2</td>)"));
}

TEST(TuneReport, FoldsWindowsInWhichNothingHappened) {
  TuningLog log = usual_log();
  add(log, kMore, 2100, 0.004, kOther, "looks elsewhere", true);
  add(log, kOther, 700, 0.4, kMore, "goes back", true);
  add(log, kMore, 1999, 0.02, kMore, "goes back", true);
  const std::string html = well_formed(log);
  EXPECT_THAT(html, HasSubstr(R"(colspan="7">20 windows as before, 2,000 to 2,019 samples/s, waiting 0.4%</td>)"));
  EXPECT_THAT(html, HasSubstr(R"(colspan="7">1 window as before, 1,999 samples/s, waiting 2.0%</td>)"));
  // The beginning, three moves, the first fold, two moves, the second.
  EXPECT_EQ(count(between(html, "<tbody>", "</tbody>"), "<tr"), 8U);
}

TEST(TuneReport, DoesNotFoldAWindowThatOthersFollow) {
  TuningLog log = usual_log();
  add(log, kMore, 2000, 0.004, kOther, "stays with more", true);
  EXPECT_THAT(well_formed(log), HasSubstr("20 windows as before"));
}

TEST(TuneReport, DoesNotFoldWindowsOfASearch) {
  TuningLog log = empty_log();
  for (int i = 0; i < 3; ++i) add(log, kFew, 1000, 0.1, kFew, "once more", false);
  EXPECT_THAT(well_formed(log), Not(HasSubstr("as before")));
}

TEST(TuneReport, TellsWhatTheRunWas) {
  TuningLog log = usual_log();
  log.title = "a < b";
  log.workload.memory_bytes = 512'000'000;
  log.left_out = 12345;
  const std::string html = well_formed(log);
  EXPECT_THAT(html, HasSubstr("<title>a &lt; b</title>"));
  EXPECT_THAT(html, HasSubstr("<h1>a &lt; b</h1>"));
  EXPECT_THAT(html,
              HasSubstr("4 cores, batches of 64, 512 MB of memory for them; stages: decode, finish; 23 windows in "
                        "3 min 50 s; 12,345 windows without a change are left out."));
  EXPECT_THAT(html, HasSubstr("The tuner's last message: stays with more."));
}

TEST(TuneReport, IsSaneWhateverTheNumbersAre) {
  const double infinite = std::numeric_limits<double>::infinity(), none = std::nan("");
  const double odd[] = {0, -1, none, infinite, -infinite, 1e-320, 1e308};
  TuningLog log = empty_log();
  for (const double at_s : odd) {
    for (const double seconds : odd) {
      for (const double wait_s : odd) {
        for (const std::int64_t samples :
             {std::int64_t{0}, std::int64_t{-5}, std::numeric_limits<std::int64_t>::max()}) {
          TuningMove& move = log.moves.emplace_back();
          move.at_s = at_s;
          move.window = {.samples = samples, .seconds = seconds, .wait_s = wait_s, .step_s = none, .stages = {}};
          move.knobs = move.next = {-3, 1 << 30, 0, std::numeric_limits<int>::max()};
          TuningLog alone;
          alone.moves = {move};
          EXPECT_EQ(xml_fault(tune_report_html(alone)), "");
        }
      }
    }
  }
  const std::string html = well_formed(log);
  EXPECT_THAT(between(html, "<body>", "<script>"), Not(testing::ContainsRegex("[^a-z](nan|inf)[^a-z]")));
  add(log, kMore, 1000, 0.1, kMore, "goes on");
  EXPECT_THAT(verdict(well_formed(log)), HasSubstr("1,000 samples/s"));
}

}  // namespace
}  // namespace stoker
