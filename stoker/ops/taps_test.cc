#include "stoker/ops/taps.h"
#include "stoker/ops/sampling_map_testing.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stoker {
namespace {

using testing::Each;
using testing::ElementsAre;

AxisTaps taps_of(const AxisMap& axis, Filter filter) {
  AxisTaps taps;
  build_taps(axis, filter, taps);
  return taps;
}

std::vector<std::int32_t> weights(const AxisTaps& taps, int output) {
  const auto span = taps.weights_of(output);
  return {span.begin(), span.end()};
}

constexpr std::int32_t kOne = 1 << 22;

TEST(BuildTaps, CopiesAnAxisThatIsNotResampled) {
  AxisMap axis = AxisMap::identity(10);
  axis.clamp_begin = 4;
  axis.target = axis.length = 6;
  const AxisTaps taps = taps_of(axis, Filter::kBicubic);
  EXPECT_TRUE(taps.identity);
  EXPECT_THAT(taps.first, ElementsAre(4, 5, 6, 7, 8, 9));
  EXPECT_THAT(taps.count, Each(1));
  EXPECT_THAT(taps.weights, Each(kOne));
  EXPECT_EQ(taps.source_begin, 4);
  EXPECT_EQ(taps.source_end, 10);
}

TEST(BuildTaps, SeesStepsThroughTheSource) {
  AxisMap axis = AxisMap::identity(10);
  EXPECT_EQ(taps_of(axis, Filter::kBilinear).step, 1);
  axis.mirror();
  EXPECT_EQ(taps_of(axis, Filter::kBilinear).step, -1);
  axis.crop(2, 5);
  EXPECT_EQ(taps_of(axis, Filter::kBilinear).step, -1);
  axis.crop(4, 1);
  EXPECT_EQ(taps_of(axis, Filter::kBilinear).step, 1);
  axis = AxisMap::identity(10);
  axis.crop(-1, 10);
  EXPECT_EQ(taps_of(axis, Filter::kBilinear).step, 0) << "padding before it";
  axis = AxisMap::identity(10);
  axis.crop(1, 10);
  EXPECT_EQ(taps_of(axis, Filter::kBilinear).step, 0) << "padding behind it";
  EXPECT_EQ(taps_of(resized(10, 5), Filter::kNearest).step, 0);
  EXPECT_EQ(taps_of(resized(10, 20), Filter::kNearest).step, 0);
  EXPECT_EQ(taps_of(resized(10, 5), Filter::kBilinear).step, 0);
  AxisTaps taps = taps_of(AxisMap::identity(4), Filter::kBilinear);
  build_taps(resized(10, 5), Filter::kBox, taps);
  EXPECT_EQ(taps.step, 0) << "what was there before is forgotten";
}

TEST(BuildTaps, CopiesWhenTheTargetHasTheBoxesSize) {
  AxisMap axis = resized(10, 5);
  axis.clamp_begin = 2;
  axis.box_begin = 1;
  axis.box_length = 5;
  for (const Filter filter : {Filter::kNearest, Filter::kBox, Filter::kBilinear, Filter::kBicubic}) {
    const AxisTaps taps = taps_of(axis, filter);
    EXPECT_TRUE(taps.identity);
    EXPECT_THAT(taps.first, ElementsAre(3, 4, 5, 6, 7));
  }
  axis.box_begin = 0.5;
  EXPECT_FALSE(taps_of(axis, Filter::kBilinear).identity);
}

TEST(BuildTaps, AveragesWhenABoxHalves) {
  const AxisTaps taps = taps_of(resized(6, 3), Filter::kBox);
  EXPECT_FALSE(taps.identity);
  EXPECT_THAT(taps.first, ElementsAre(0, 2, 4));
  for (int o = 0; o < 3; ++o) EXPECT_THAT(weights(taps, o), ElementsAre(kOne / 2, kOne / 2));
}

TEST(BuildTaps, WidensATriangleWithTheReduction) {
  const AxisTaps taps = taps_of(resized(8, 4), Filter::kBilinear);
  EXPECT_THAT(taps.first, ElementsAre(0, 1, 3, 5));
  EXPECT_THAT(weights(taps, 1), ElementsAre(kOne / 8, 3 * kOne / 8, 3 * kOne / 8, kOne / 8));
  // At the border the triangle is cut off and what is left is scaled up to one: 3/7, 3/7, 1/7.
  EXPECT_THAT(weights(taps, 0), ElementsAre(1797559, 1797559, 599186));
}

TEST(BuildTaps, GivesBicubicItsNegativeLobes) {
  const AxisTaps taps = taps_of(resized(8, 16), Filter::kBicubic);
  // The cubic with a = -1/2 at the distances 1.25, 0.25, 0.75, 1.75.
  EXPECT_THAT(weights(taps, 7), ElementsAre(-294912, 3637248, 950272, -98304));
}

TEST(BuildTaps, PicksTheColumnUnderTheCentreForNearest) {
  EXPECT_THAT(taps_of(resized(10, 4), Filter::kNearest).first, ElementsAre(1, 3, 6, 8));
  EXPECT_THAT(taps_of(resized(3, 7), Filter::kNearest).first, ElementsAre(0, 0, 1, 1, 1, 2, 2));
  EXPECT_TRUE(taps_of(resized(10, 4), Filter::kNearest).identity);
}

// Rounded weights may miss one by half a unit each.
TEST(BuildTaps, SumsToOneAndStaysInsideTheCropForEverySize) {
  for (const Filter filter : {Filter::kBox, Filter::kBilinear, Filter::kBicubic}) {
    for (int source = 1; source < 60; ++source) {
      for (const int target : {1, 2, 3, 7, 16, 61, 200}) {
        AxisMap axis = resized(source, target);
        axis.clamp_begin += 5;
        axis.clamp_end += 5;
        const AxisTaps taps = taps_of(axis, filter);
        for (int o = 0; o < target; ++o) {
          const auto values = weights(taps, o);
          const auto at = static_cast<std::size_t>(o);
          EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0), kOne, taps.count[at]);
          EXPECT_GE(taps.first[at], 5);
          EXPECT_LE(taps.first[at] + taps.count[at], source + 5);
          EXPECT_LE(taps.count[at], taps.taps_max);
          EXPECT_LE(taps.source_begin, taps.first[at]);
          EXPECT_GE(taps.source_end, taps.first[at] + taps.count[at]);
        }
      }
    }
  }
}

TEST(BuildTaps, ShowsAWindowMirroredAsPartOfTheWhole) {
  for (const Filter filter : {Filter::kNearest, Filter::kBox, Filter::kBilinear, Filter::kBicubic}) {
    const AxisTaps whole = taps_of(resized(290, 224), filter);
    AxisMap axis = resized(290, 224);
    axis.window_begin = 100;
    axis.length = 50;
    axis.flip = true;
    const AxisTaps part = taps_of(axis, filter);
    ASSERT_EQ(part.outputs, 50);
    for (int o = 0; o < 50; ++o) {
      const int same = 100 + 49 - o;
      EXPECT_EQ(part.first[static_cast<std::size_t>(o)], whole.first[static_cast<std::size_t>(same)]);
      EXPECT_EQ(weights(part, o), weights(whole, same));
    }
    EXPECT_GT(part.source_begin, 100);
    EXPECT_LT(part.source_end, 220);
  }
}

TEST(BuildTaps, MirrorsTheSourceOfAMirroredAxis) {
  AxisMap axis = resized(10, 4);
  axis.source_mirrored = true;
  EXPECT_THAT(taps_of(axis, Filter::kNearest).first, ElementsAre(8, 6, 3, 1));
  axis = resized(8, 4);
  axis.source_mirrored = true;
  EXPECT_THAT(taps_of(axis, Filter::kNearest).first, ElementsAre(6, 4, 2, 0)) << "not the 7, 5, 3, 1 of a flip";
  axis.clamp_begin = 3;
  const AxisTaps cropped = taps_of(axis, Filter::kBilinear);
  axis.source_mirrored = false;
  const AxisTaps straight = taps_of(axis, Filter::kBilinear);
  for (int o = 0; o < 4; ++o) {
    const auto at = static_cast<std::size_t>(o);
    std::vector<std::int32_t> reversed = weights(straight, o);
    std::reverse(reversed.begin(), reversed.end());
    EXPECT_EQ(weights(cropped, o), reversed);
    EXPECT_EQ(cropped.first[at], 3 + 8 - straight.first[at] - straight.count[at]);
  }
}

TEST(BuildTaps, LeavesPaddingWithoutTaps) {
  AxisMap axis = resized(8, 4);
  axis.window_begin = -2;
  axis.length = 7;
  const AxisTaps taps = taps_of(axis, Filter::kBilinear);
  EXPECT_THAT(taps.first, ElementsAre(-1, -1, 0, 1, 3, 5, -1));
  EXPECT_THAT(taps.count, ElementsAre(0, 0, 3, 4, 4, 3, 0));
  axis.flip = true;
  EXPECT_THAT(taps_of(axis, Filter::kBilinear).first, ElementsAre(-1, 5, 3, 1, 0, -1, -1));
}

TEST(BuildTaps, ReadsNothingWhenOnlyPaddingIsShown) {
  AxisMap axis = resized(8, 4);
  axis.window_begin = 4;
  for (const Filter filter : {Filter::kNearest, Filter::kBilinear}) {
    const AxisTaps taps = taps_of(axis, filter);
    EXPECT_THAT(taps.count, Each(0));
    EXPECT_EQ(taps.source_begin, taps.source_end);
  }
}

TEST(BuildTaps, ReusesItsVectors) {
  AxisTaps taps;
  build_taps(resized(900, 224), Filter::kBicubic, taps);
  const auto* first = taps.first.data();
  const auto* values = taps.weights.data();
  build_taps(resized(300, 200), Filter::kBilinear, taps);
  build_taps(AxisMap::identity(224), Filter::kBilinear, taps);
  EXPECT_EQ(taps.first.data(), first);
  EXPECT_EQ(taps.weights.data(), values);
}

}  // namespace
}  // namespace stoker
