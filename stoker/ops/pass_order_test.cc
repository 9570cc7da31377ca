#include "stoker/ops/pass_order.h"

#include <gtest/gtest.h>

#include "stoker/ops/sampling_map_testing.h"

namespace stoker {
namespace {

// By Pillow 12.1.0, 12.3.0 and 13.0.0, whose result is one order's and not the other's.
struct Known {
  int width, height, target_width, target_height;
  bool from_12_2, from_13;
};
constexpr Known kKnown[] = {
    {61, 22, 60, 20, false, false},   {61, 23, 60, 20, false, true},    {66, 32, 60, 20, false, false},
    {66, 33, 60, 20, false, true},    {300, 500, 60, 20, false, false}, {300, 501, 60, 20, false, true},
    {600, 499, 60, 20, false, false}, {51, 81, 64, 80, false, true},    {71, 51, 39, 8, false, false},
    {18, 61, 12, 46, false, true},    {50, 80, 64, 90, false, false},   {90, 40, 20, 80, false, false},
    {3, 300, 6, 10, false, true},     {3, 301, 6, 10, true, true},      {3, 301, 6, 270, true, true},
    {3, 301, 6, 330, false, false},   {5, 500, 4, 450, false, true},    {5, 501, 4, 450, true, true},
};

TEST(PassOrder, IsThatOfTheVersionsOfPillow) {
  for (const Known& known : kKnown) {
    const SamplingMap map =
        map_of(resized(known.width, known.target_width), resized(known.height, known.target_height), Filter::kBicubic);
    const auto vertical_first = [&](PillowOrder pillow) {
      return pass_order(map, pillow) == PassOrder::kVerticalFirst;
    };
    EXPECT_FALSE(vertical_first(PillowOrder::k9_4)) << known.height;
    EXPECT_EQ(vertical_first(PillowOrder::k12_2), known.from_12_2) << known.width << " x " << known.height;
    EXPECT_EQ(vertical_first(PillowOrder::k13), known.from_13) << known.width << " x " << known.height;
  }
}

// Pillow is given what was cropped, and makes all of a target of which a window is shown.
TEST(PassOrder, FollowsFromTheCropAndTheWholeTarget) {
  AxisMap x = resized(61, 60), y = resized(23, 20);
  x.clamp_begin += 200, x.clamp_end += 200;
  y.clamp_begin += 7, y.clamp_end += 7;
  x.window_begin = 3, x.length = 5;
  y.window_begin = 2, y.length = 90;
  EXPECT_EQ(pass_order(map_of(x, y, Filter::kBilinear), PillowOrder::k13), PassOrder::kVerticalFirst);
  x.clamp_end += 1;
  EXPECT_EQ(pass_order(map_of(x, y, Filter::kBilinear), PillowOrder::k13), PassOrder::kHorizontalFirst);
}

TEST(PassOrder, IsTheFirstWhereOnlyOneAxisIsResampled) {
  const SamplingMap map = map_of(AxisMap::identity(20), resized(90, 10), Filter::kBilinear);
  EXPECT_EQ(pass_order(map, PillowOrder::k13), PassOrder::kHorizontalFirst);
}

}  // namespace
}  // namespace stoker
