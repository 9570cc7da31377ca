#include "stoker/tuner/report/tune_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <regex>
#include <string>
#include <vector>

#include "stoker/tuner/report/chart_scale.h"
#include "stoker/tuner/report/markup_testing.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

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
  move.settled = settled;
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

// Of the first group, in each place.
std::vector<std::string> all_of(const std::string& text, const std::string& pattern) {
  std::vector<std::string> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i) found.push_back((*i)[1]);
  return found;
}

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find(to, begin) - begin);
}
std::string charts(const std::string& html) { return between(html, R"(class="charts")", "</svg>"); }
std::string verdict(const std::string& html) { return between(html, R"(<p class="verdict">)", "</p>"); }

// Everything between two marks, in each place.
std::vector<std::string> all_between(const std::string& text, const std::string& from, const std::string& to) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + from.size())) {
    found.push_back(text.substr(at, text.find(to, at) - at));
  }
  return found;
}

// What the paths of this style draw. A regular expression would not do: the library's recur with each character.
std::vector<std::string> paths(const std::string& html, const std::string& style) {
  std::vector<std::string> found;
  for (const std::string& tag : all_between(html, "<path d=\"", "/>")) {
    if (tag.ends_with("\" class=\"" + style + "\"")) found.push_back(tag.substr(9, tag.find('"', 9) - 9));
  }
  return found;
}

// The heights at which the line of this style has its points.
std::vector<double> heights(const std::string& html, const std::string& style) {
  std::vector<double> heights;
  for (const std::string& each : all_of(paths(html, style).at(0), "[ML][0-9.]+ ([0-9.]+)")) {
    heights.push_back(std::stod(each));
  }
  return heights;
}

TEST(TuneReport, NeedsNothingButItself) {
  const std::string html = well_formed(usual_log());
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  for (const char* const what : {"<script", "<link", "src=", "href=", "url(", "@import", "@font-face"}) {
    EXPECT_THAT(html, Not(HasSubstr(what)));
  }
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(html, HasSubstr("@media print"));
  // The only addresses are the names of HTML and SVG.
  EXPECT_EQ(count(html, "http"), count(html, "xmlns=\"http://www.w3.org/"));
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
              HasSubstr("Still looking, now with 3 threads at index 2, prefetch 4, I/O depth 8: not measured yet. The "
                        "last window, with 1 thread at index 2, prefetch 4, I/O depth 8: 1,000 samples/s"));
}

TEST(TuneReport, IsSaneWithoutAnyMove) {
  const std::string html = well_formed(empty_log());
  EXPECT_THAT(verdict(html), HasSubstr("No window has been measured yet. The tuner begins with 1 thread at index 2"));
  EXPECT_THAT(html, HasSubstr("begins somewhere"));
  EXPECT_THAT(html, Not(HasSubstr("<svg")));
  EXPECT_THAT(well_formed({}), HasSubstr("No window has been measured yet"));
}

TEST(TuneReport, IsSaneWithOneMove) {
  TuningLog log = empty_log();
  add(log, kFew, 1000, 0.5, kFew, "again");
  const std::string html = well_formed(log);
  EXPECT_EQ(heights(html, "rate").size(), 1U);
  EXPECT_EQ(count(html, R"(class="rate dot")"), 1U);
  EXPECT_THAT(html, HasSubstr("Never changed: threads 1, the transfer index 2, prefetch 4, the I/O depth 8."));
  EXPECT_THAT(verdict(html), Not(HasSubstr("At first")));
}

TEST(TuneReport, DrawsTheThroughputFromZeroWithRoundTicks) {
  const std::string html = well_formed(usual_log());
  EXPECT_THAT(all_of(charts(html), R"re(text-anchor="end">([^<%]*)</text>)re"),
              ElementsAre("0", "500", "1,000", "1,500", "2,000", "2,500", "0", "1", "2", "3", "0", "1", "2"));
  EXPECT_THAT(all_of(charts(html), R"re(text-anchor="end">([^<]*%)</text>)re"), ElementsAre("0%", "20%", "40%", "60%"));
  EXPECT_THAT(all_of(charts(html), R"re(text-anchor="middle">([^<]*)</text>)re"),
              ElementsAre("0", "30 s", "1 min", "1:30 min", "2 min", "2:30 min", "3 min", "3:30 min"));
  // 1,000 and 2,000 of 2,500.
  const std::vector<double> lines = heights(html, "rate");
  ASSERT_EQ(lines.size(), 23U);
  EXPECT_NEAR(lines[0], 26 + 190 * 0.6, 0.1);
  EXPECT_NEAR(lines[1], 26 + 190 * 0.2, 0.1);
}

TEST(TuneReport, DrawsKnobsThatChangedAndTellsOfThoseThatDidNot) {
  const std::string html = well_formed(usual_log());
  EXPECT_THAT(
      all_of(charts(html), R"re(class="title">([^<]*)<)re"),
      ElementsAre("samples/s", "the consumer's wait, of its time", "threads", "transfer index (stages on the CPU)"));
  EXPECT_THAT(html, HasSubstr("Never changed: prefetch 4, the I/O depth 8."));
  // From one thread of three to all three after 10 s of 230; from index 2 of 2 to 1 and back after 20 and 30 s.
  EXPECT_THAT(paths(html, "knob"), ElementsAre("M64 394.7H98.8V352H864V352", "M64 442H133.6V474H168.3V442H864V442"));
}

TEST(TuneReport, MarksChangesAndShadesWhatIsSettled) {
  const std::string html = well_formed(usual_log());
  // After 10, 20 and 30 s of 230, across 800 pixels from 64 on.
  EXPECT_THAT(paths(html, "mark"), testing::Contains("M98.8 26v190M133.6 26v190M168.3 26v190"));
  EXPECT_THAT(all_of(html, R"re(<rect x="([0-9.]*)" y="26" width="695.7" height="190" class="settled"/>)re"),
              ElementsAre("168.3"));
}

TEST(TuneReport, KeepsItsLabelsApart) {
  for (const int windows : {1, 2, 7, 50, 333, 4000}) {
    TuningLog log = empty_log();
    log.workload.stages[0].name = "a stage with a name that is far too long to stand beside anything";
    for (int i = 0; i < windows; ++i) {
      const KnobSetting knobs = {1 + i % 40, i % 3, 1 + i % 16, 1 + i % 100};
      add(log, knobs, 123456.0 * (i % 7), 0.1 * (i % 9), knobs, "goes on");
    }
    const std::string html = well_formed(log);
    for (const std::string& drawn : all_between(html, "<svg", "</svg>")) {
      struct Box {
        double left, right, base;
        std::string text;
      };
      std::vector<Box> boxes;
      const std::string size = between(drawn, "viewBox=\"0 0 ", "\">").substr(13);
      const double width = std::stod(size), height = std::stod(size.substr(size.find(' ')));
      const std::regex text(R"re(<text x="([0-9.]+)" y="([0-9.]+)"([^>]*)>([^<]*)</text>)re");
      for (std::sregex_iterator t(drawn.begin(), drawn.end(), text), end; t != end; ++t) {
        const double x = std::stod((*t)[1]), wide = label_width((*t)[4]);
        const std::string style = (*t)[3];
        const double part = style.find("\"end\"") != style.npos ? 1 : style.find("\"middle\"") != style.npos ? 0.5 : 0;
        const Box box = {x - part * wide, x + (1 - part) * wide, std::stod((*t)[2]), (*t)[4]};
        EXPECT_GE(box.left, 0) << box.text;
        EXPECT_LE(box.right, width) << box.text;
        EXPECT_LE(box.base, height) << box.text;
        for (const Box& other : boxes) {
          const bool apart = box.left >= other.right || other.left >= box.right || std::abs(box.base - other.base) > 10;
          EXPECT_TRUE(apart) << windows << " windows: " << box.text << " and " << other.text;
        }
        boxes.push_back(box);
      }
      EXPECT_GT(boxes.size(), 6U);
    }
  }
}

TEST(TuneReport, ThinsLongLogsAndKeepsTheirPeaks) {
  TuningLog log = empty_log();
  for (int i = 0; i < 4000; ++i) {
    const double rate = i == 1234 ? 1000 : i == 3210 ? 0 : 500 + i % 10;
    add(log, i % 2 == 0 ? kFew : kMore, rate, 0.1, i % 2 == 0 ? kMore : kFew, "goes on");
  }
  const std::string html = well_formed(log);
  const std::vector<double> rates = heights(html, "rate");
  EXPECT_LE(rates.size(), 1200U);
  EXPECT_GE(rates.size(), 600U);
  EXPECT_EQ(*std::min_element(rates.begin(), rates.end()), 26);        // of 1,000 samples/s, the most
  EXPECT_EQ(*std::max_element(rates.begin(), rates.end()), 26 + 190);  // of none
  EXPECT_EQ(std::count(rates.begin(), rates.end(), 26), 1);
  EXPECT_EQ(count(html, "dot\"/>"), 0U);
  EXPECT_LE(count(paths(html, "knob").at(0), "H"), 1200U);
  EXPECT_LE(count(paths(html, "mark").at(0), "M"), 800U);
}

TEST(TuneReport, ColorsWhatWasTriedByItsMedianAndFramesTheChosen) {
  TuningLog log = empty_log();
  for (const double rate : {10.0, 1000.0, 900.0}) add(log, kFew, rate, 0.5, kMore, "goes on");
  add(log, kMore, 1000, 0, kOther, "goes on");
  add(log, kOther, 400, 0, kMore, "chooses more");
  const std::string html = well_formed(log);
  const std::string map = between(html, R"(class="tried")", "</svg>");
  EXPECT_THAT(all_of(map, "<title>([^<]*)</title>"),
              ElementsAre("3 threads at index 1: 400 samples/s, 40% of the best, 1 window",
                          "1 thread at index 2: 900 samples/s, 90% of the best, 3 windows",
                          "3 threads at index 2: 1,000 samples/s, 100% of the best, 1 window"));
  EXPECT_THAT(all_of(map, R"re(<g class="(heat[0-9])"><title>)re"), ElementsAre("heat5", "heat2", "heat0"));
  EXPECT_THAT(all_of(map, R"re(text-anchor="end">([0-9]: [^<]*)<)re"),
              ElementsAre("1: after decode", "2: after finish"));
  // Two threads at both indices, and one thread at index 1.
  EXPECT_EQ(count(map, R"(class="untried")"), 3U);
  // The frame is where the cell with the title is.
  const std::vector<std::string> framed = all_of(map, R"re(<rect ([^>]*) class="chosen"/>)re");
  ASSERT_EQ(framed.size(), 1U);
  EXPECT_THAT(between(map, "3 threads at index 2:", "</g>"), HasSubstr("<rect " + framed[0] + "/>"));
  EXPECT_THAT(html, HasSubstr("Best: 1,000 samples/s"));
  EXPECT_THAT(map, HasSubstr("less than 50%"));
}

TEST(TuneReport, HasOneRowWhereThereIsOneIndex) {
  TuningLog log = empty_log();
  log.workload.stages[1].device_s.reset();
  add(log, kFew, 1000, 0.5, kMore, "goes on");
  add(log, kMore, 2000, 0.5, kMore, "goes on");
  const std::string map = between(well_formed(log), R"(class="tried")", "</svg>");
  EXPECT_THAT(all_of(map, R"re(text-anchor="end">([0-9]: [^<]*)<)re"), ElementsAre("2: after finish"));
}

TEST(TuneReport, DoesNotCompareWhatWasTriedBeforeAChangeWithWhatWasTriedAfterIt) {
  TuningLog log = usual_log();
  add(log, kMore, 500, 0, kMore, "looks again");
  add(log, kMore, 500, 0, kFew, "tries few");
  add(log, kFew, 490, 0, kFew, "stays with few", true);
  const std::string html = well_formed(log);
  const std::vector<std::string> titles = all_of(html, "<title>([0-9][^<]*)</title>");
  EXPECT_THAT(titles, ElementsAre("1 thread at index 2: 490 samples/s, 98% of the best, 1 window",
                                  "3 threads at index 2: 500 samples/s, 100% of the best, 1 window",
                                  "3 threads at index 1: 800 samples/s, 40% of the best, 1 window",
                                  "1 thread at index 2: 1,000 samples/s, 50% of the best, 1 window",
                                  "3 threads at index 2: 2,009 samples/s, 100% of the best, 22 windows"));
  EXPECT_THAT(html, HasSubstr("From 4 min 00 s on. Best: 500 samples/s."));
  EXPECT_THAT(html, HasSubstr("From the beginning to 4 min 00 s, when something changed. Best: 2,009 samples/s."));
  EXPECT_EQ(count(html, R"(class="chosen")"), 2U);
  EXPECT_EQ(count(html, "less than 50%"), 1U);
}

TEST(TuneReport, TellsEveryMoveWithItsReason) {
  TuningLog log = empty_log();
  add(log, kFew, 1000, 0.5, kMore, "tries <b>more</b> & \"better\"");
  add(log, kMore, 2000, 0.003, kMore, "stays", true);
  const std::string html = well_formed(log);
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  EXPECT_THAT(html, HasSubstr(R"(<tr><td class="number">10.0 s</td><td class="number">1</td><td class="number">2</td>)"
                              R"(<td class="number">4</td><td class="number">8</td><td class="number">1,000</td>)"
                              R"(<td class="number">50%</td>)"
                              R"(<td>tries &lt;b&gt;more&lt;/b&gt; &amp; &quot;better&quot;</td></tr>)"));
  EXPECT_THAT(html,
              HasSubstr(R"(<td class="number">20.0 s</td><td class="number new">3</td><td class="number">2</td>)"));
}

TEST(TuneReport, FoldsWindowsInWhichNothingHappened) {
  TuningLog log = usual_log();
  add(log, kMore, 2100, 0.004, kOther, "looks elsewhere", true);
  add(log, kOther, 700, 0.4, kMore, "goes back", true);
  add(log, kMore, 1999, 0.02, kMore, "goes back", true);
  const std::string html = well_formed(log);
  EXPECT_THAT(all_of(html, R"re(<td colspan="7">([^<]*)</td>)re"),
              ElementsAre("20 windows as before, 2,000 to 2,019 samples/s, waiting 0.4%",
                          "1 window as before, 1,999 samples/s, waiting 2.0%"));
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
                        "3 min 50 s; 12,345 windows of quiet times are left out."));
  EXPECT_THAT(html, HasSubstr("The tuner's last word: stays with more."));
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
  EXPECT_THAT(html, Not(testing::ContainsRegex("[^a-z](nan|inf)[^a-z]")));
  add(log, kMore, 1000, 0.1, kMore, "goes on");
  EXPECT_THAT(verdict(well_formed(log)), HasSubstr("1,000 samples/s"));
}

}  // namespace
}  // namespace stoker
