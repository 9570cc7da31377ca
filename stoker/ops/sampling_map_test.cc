#include "stoker/ops/sampling_map.h"

#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

TEST(AxisMap, CropAfterFlipCutsTheOtherSide) {
  AxisMap axis = AxisMap::identity(10);
  axis.mirror();
  axis.crop(1, 4);  // outputs 1..4 of the mirrored ten show columns 8..5
  EXPECT_EQ(axis.window_begin, 5);
  EXPECT_EQ(axis.length, 4);
  EXPECT_TRUE(axis.flip);
  axis.mirror();
  axis.crop(0, 1);
  EXPECT_EQ(axis.window_begin, 5);
}

TEST(AxisMap, ResizeClampsTapsToTheCrop) {
  AxisMap axis = AxisMap::identity(100);
  axis.crop(20, 30);
  axis.resize(15);
  EXPECT_EQ(axis.clamp_begin, 20);
  EXPECT_EQ(axis.clamp_end, 50);
  EXPECT_EQ(axis.box_begin, 0);
  EXPECT_EQ(axis.box_length, 30);
  EXPECT_EQ(axis.target, 15);
}

TEST(AxisMap, ResizingTwiceStretchesOneMap) {
  AxisMap axis = AxisMap::identity(100);
  axis.resize(50);    // two source columns per output
  axis.crop(10, 20);  // source columns 20..60
  axis.resize(10);
  EXPECT_EQ(axis.clamp_begin, 20);
  EXPECT_EQ(axis.clamp_end, 60);
  EXPECT_EQ(axis.box_begin, 0);
  EXPECT_EQ(axis.box_length, 40);
  axis.crop(1, 3);  // 4 source columns per output: 24..36
  axis.resize(8);
  EXPECT_EQ(axis.clamp_begin, 24);
  EXPECT_EQ(axis.clamp_end, 36);
}

TEST(AxisMap, AFlipBeforeAResizeIsPartOfTheSource) {
  AxisMap axis = AxisMap::identity(100);
  axis.crop(20, 50);
  axis.mirror();
  axis.resize(10);
  EXPECT_TRUE(axis.source_mirrored);
  EXPECT_FALSE(axis.flip);
  EXPECT_EQ(axis.clamp_begin, 20);
  EXPECT_EQ(axis.clamp_end, 70);
  axis.crop(1, 2);  // columns 5..15 of the mirrored crop: 55..65 of the source
  axis.resize(7);
  EXPECT_TRUE(axis.source_mirrored);
  EXPECT_EQ(axis.clamp_begin, 55);
  EXPECT_EQ(axis.clamp_end, 65);
  axis.mirror();
  axis.crop(0, 4);  // the part that lies to the left in the source, mirrored twice
  axis.resize(4);
  EXPECT_FALSE(axis.source_mirrored || axis.flip);
  EXPECT_EQ(axis.clamp_begin, 55);
  EXPECT_EQ(axis.clamp_end, 61);
  EXPECT_EQ(axis.box_begin, 0);
  EXPECT_NEAR(axis.box_length, 40.0 / 7, 1e-12);
}

TEST(SamplingMap, PaddingCannotBeResized) {
  SamplingMap map = SamplingMap::identity(10, 10);
  map.x.crop(-1, 12);
  EXPECT_TRUE(map.x.shows_padding());
  const Error error = error_of([&] { map.resize(5, 5, Filter::kBox); });
  EXPECT_EQ(error.kind(), ErrorKind::kBadSample) << "operators that surely pad are refused before";
  map.x.crop(1, 10);  // the padding is cut off again
  EXPECT_FALSE(map.x.shows_padding());
  map.resize(5, 5, Filter::kBox);
  EXPECT_EQ(map.x.clamp_end, 10);
}

TEST(SamplingMap, PaddingAroundACropIsPadding) {
  for (const bool resized : {false, true}) {
    AxisMap axis = AxisMap::identity(10);
    if (resized) axis.resize(20);
    axis.crop(3, 5);
    axis.mirror();
    axis.crop(1, 3);  // columns 4, 5 and 6, from right to left
    EXPECT_FALSE(axis.shows_padding());
    axis.crop(-2, 6);
    EXPECT_TRUE(axis.shows_padding());
    EXPECT_EQ(std::pair(axis.window_begin, axis.length), std::pair(3, 6));
    EXPECT_EQ(std::pair(axis.image_begin(), axis.image_end()), std::pair(4, 7));
    axis.crop(5, 3);  // nothing else any more
    EXPECT_EQ(axis.image_begin(), axis.image_end());
    axis.crop(-9, 20);
    EXPECT_EQ(axis.image_begin(), axis.image_end()) << "what was cropped does not come back";
  }
}

TEST(SamplingMap, AResizeToThePresentSizeChangesNothingButAFilterThatIsOpen) {
  SamplingMap map = SamplingMap::identity(10, 10);
  map.resize(5, 4, Filter::kNearest);
  map.x.mirror();
  map.resize(5, 4, Filter::kBicubic);
  EXPECT_TRUE(map.x.flip);
  EXPECT_EQ(map.filter, Filter::kNearest);
  map.is_resized = false;  // as for a draw group
  map.resize(5, 4, Filter::kBicubic);
  EXPECT_EQ(map.filter, Filter::kBicubic);
  SamplingMap whole = SamplingMap::identity(10, 10);
  whole.resize(10, 10, Filter::kBicubic);
  EXPECT_FALSE(whole.x.resampled || whole.y.resampled) << "pixels stay as they are";
}

TEST(SamplingMap, ShrinksAsFarAsTheTargetAllowsOnBothAxes) {
  const auto shrink = [](Rect crop, int width, int height) {
    SamplingMap map = SamplingMap::identity(4000, 3000);
    map.crop_or_pad(crop, {});
    map.resize(width, height, Filter::kBilinear);
    return map.shrink();
  };
  const Rect whole{0, 0, 4000, 3000};
  EXPECT_EQ(shrink(whole, 224, 224), 8);
  EXPECT_EQ(shrink(whole, 500, 375), 8);
  EXPECT_EQ(shrink(whole, 501, 375), 4);
  EXPECT_EQ(shrink(whole, 500, 376), 4);
  EXPECT_EQ(shrink(whole, 224, 1500), 2);
  EXPECT_EQ(shrink(whole, 224, 1501), 1);
  EXPECT_EQ(shrink({100, 50, 895, 896}, 224, 224), 2);
  EXPECT_EQ(shrink({100, 50, 896, 896}, 224, 224), 4);
  EXPECT_EQ(SamplingMap::identity(4000, 3000).shrink(), 1) << "nothing is resampled";
  SamplingMap window = SamplingMap::identity(4000, 3000);
  window.resize(500, 375, Filter::kBilinear);
  window.crop_or_pad({-10, 20, 30, 30}, {});
  EXPECT_EQ(window.shrink(), 8) << "what is cut off later changes nothing";
}

TEST(SamplingMap, RefusesTwoColoursOfPadding) {
  SamplingMap map = SamplingMap::identity(4, 4);
  map.crop_or_pad({-1, 0, 6, 4}, {1, 1, 1});
  EXPECT_EQ(map.fill[0], 1);
  map.crop_or_pad({0, 0, 5, 4}, {1, 1, 1});
  const Error error = error_of([&] { map.crop_or_pad({-1, 0, 9, 4}, {2, 2, 2}); });
  EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
  SamplingMap cut = map;
  cut.crop_or_pad({0, 0, 3, 3}, {2, 2, 2});  // which pads nothing
  EXPECT_EQ(cut.fill, (std::array<std::uint8_t, 3>{1, 1, 1}));
  SamplingMap inner = SamplingMap::identity(4, 4);
  inner.crop_or_pad({1, 1, 2, 2}, {9, 9, 9});
  EXPECT_EQ(inner.fill[0], 0) << "a crop that shows no padding has no colour";
}

TEST(Filter, NamesRoundTrip) {
  for (const Filter filter : {Filter::kNearest, Filter::kBox, Filter::kBilinear, Filter::kBicubic})
    EXPECT_EQ(parse_filter(to_string(filter)), filter);
  EXPECT_THROW(parse_filter("sinc"), Error);
}

}  // namespace
}  // namespace stoker
