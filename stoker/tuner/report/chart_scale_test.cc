#include "stoker/tuner/report/chart_scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace stoker {
namespace {

using testing::ElementsAre;

std::vector<std::string> labels(const ChartScale& scale) {
  std::vector<std::string> all;
  for (const ChartTick& tick : scale.ticks()) all.push_back(tick.label);
  return all;
}

TEST(ChartScale, CountsFromZeroInRoundSteps) {
  EXPECT_THAT(labels(ChartScale::from_zero(1234, 6, 100)), ElementsAre("0", "500", "1,000", "1,500"));
  EXPECT_THAT(labels(ChartScale::from_zero(10, 5, 100)), ElementsAre("0", "2", "4", "6", "8", "10.0"));
  EXPECT_THAT(labels(ChartScale::from_zero(0.07, 4, 100)), ElementsAre("0", "0.02", "0.04", "0.06", "0.08"));
}

TEST(ChartScale, HasRoomForTheMostAndFewTicks) {
  for (double most = 1e-9; most < 1e12; most *= 1.37) {
    const ChartScale scale = ChartScale::from_zero(most, 6, 100);
    EXPECT_GE(scale.most(), most * (1 - 1e-9));
    EXPECT_LE(scale.most(), 2.5 * most);
    EXPECT_LE(scale.ticks().size(), 7U) << most;
    EXPECT_GE(scale.ticks().size(), 3U) << most;
    EXPECT_DOUBLE_EQ(scale.at(0), 0);
    EXPECT_DOUBLE_EQ(scale.at(scale.most() / 4), 25);
  }
}

TEST(ChartScale, PutsWhatLiesBeyondItAtItsEnds) {
  const ChartScale scale = ChartScale::from_zero(10, 5, 100);
  EXPECT_EQ(scale.at(-3), 0);
  EXPECT_EQ(scale.at(1e300), 100);
}

TEST(ChartScale, CountsWholeThingsInWholeNumbers) {
  EXPECT_THAT(labels(ChartScale::counts(3, 5, 60)), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(labels(ChartScale::counts(0, 5, 60)), ElementsAre("0", "1"));
  EXPECT_THAT(labels(ChartScale::counts(29, 5, 60)), ElementsAre("0", "10", "20", "30"));
}

TEST(ChartScale, HasDoublingsAsFarApart) {
  const ChartScale scale = ChartScale::doublings(12, 5, 80);
  EXPECT_THAT(labels(scale), ElementsAre("1", "2", "4", "8", "16"));
  EXPECT_DOUBLE_EQ(scale.at(1), 0);
  EXPECT_DOUBLE_EQ(scale.at(4), 40);
  EXPECT_DOUBLE_EQ(scale.at(16), 80);
  EXPECT_THAT(labels(ChartScale::doublings(128, 4, 60)), ElementsAre("1", "4", "16", "64", "256"));
  EXPECT_THAT(labels(ChartScale::doublings(1, 4, 60)), ElementsAre("1", "2"));
}

TEST(ChartScale, WritesTimeInWhatItIsRoundIn) {
  EXPECT_THAT(labels(ChartScale::time(5, 300)), ElementsAre("0", "1 s", "2 s", "3 s", "4 s", "5 s"));
  EXPECT_THAT(labels(ChartScale::time(0.5, 200)), ElementsAre("0", "0.2 s", "0.4 s"));
  EXPECT_THAT(labels(ChartScale::time(125, 400)), ElementsAre("0", "30 s", "1 min", "1:30 min", "2 min"));
  EXPECT_THAT(labels(ChartScale::time(5400, 400)),
              ElementsAre("0", "15 min", "30 min", "45 min", "1 h", "1:15 h", "1:30 h"));
  EXPECT_THAT(labels(ChartScale::time(86400, 300)), ElementsAre("0", "6 h", "12 h", "18 h", "24 h"));
  EXPECT_THAT(labels(ChartScale::time(4 * 86400, 250)), ElementsAre("0", "1 d", "2 d", "3 d", "4 d"));
}

TEST(ChartScale, KeepsTheLabelsOfTimeApart) {
  for (double seconds = 1e-3; seconds < 1e10; seconds *= 1.7) {
    const ChartScale scale = ChartScale::time(seconds, 800);
    ASSERT_GE(scale.ticks().size(), 2U) << seconds;
    for (std::size_t i = 1; i < scale.ticks().size(); ++i) {
      const ChartTick &before = scale.ticks()[i - 1], &tick = scale.ticks()[i];
      EXPECT_GT(scale.at(tick.value) - scale.at(before.value),
                (label_width(tick.label) + label_width(before.label)) / 2)
          << seconds << ": " << before.label << " and " << tick.label;
      EXPECT_NE(tick.label, before.label) << seconds;
    }
  }
}

TEST(ChartScale, WritesSharesInPercentAndNoneTooFine) {
  EXPECT_THAT(labels(ChartScale::share(1, 5, 80)), ElementsAre("0%", "20%", "40%", "60%", "80%", "100%"));
  EXPECT_THAT(labels(ChartScale::share(0.0003, 5, 80)), ElementsAre("0%", "1%", "2%", "3%", "4%", "5%"));
  EXPECT_EQ(ChartScale::share(7, 5, 80).most(), 1);
}

TEST(ChartScale, IsSaneWhateverTheMost) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const double most :
       {0.0, -1.0, 1e-320, std::numeric_limits<double>::max(), kInfinite, -kInfinite, std::nan("")}) {
    for (const ChartScale& scale :
         {ChartScale::from_zero(most, 6, 100), ChartScale::time(most, 100), ChartScale::share(most, 6, 100)}) {
      EXPECT_GT(scale.most(), 0) << most;
      EXPECT_LT(scale.most(), kInfinite) << most;
      EXPECT_LE(scale.ticks().size(), 10U) << most;
      EXPECT_GE(scale.at(0.5), 0) << most;
      EXPECT_LE(scale.at(0.5), 100) << most;
    }
  }
}

TEST(LabelWidth, CountsCharactersAndNotBytes) {
  EXPECT_EQ(label_width("–"), label_width("-"));
  EXPECT_EQ(label_width("1,234"), 5 * label_width("1"));
}

}  // namespace
}  // namespace stoker
