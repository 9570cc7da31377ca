#include "stoker/ops/planar_taps.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "stoker/base/allocations_testing.h"
#include "stoker/base/isa_testing.h"
#include "stoker/base/noise_testing.h"
#include "stoker/ops/sampling_map_testing.h"

namespace stoker {
namespace {

using testing::ElementsAre;

PlanarAxisTaps taps_of(const AxisMap& axis, Filter filter, int factor = 1) {
  PlanarAxisTaps taps;
  const int bits = filter == Filter::kBicubic ? kPlanarCubicBits : kPlanarBits;
  build_planar_taps(axis, filter, factor, (axis.clamp_end + factor - 1) / factor, true, bits, taps);
  return taps;
}

std::vector<int> weights(const PlanarAxisTaps& taps, int output) {
  std::vector<int> all(static_cast<std::size_t>(taps.taps));
  for (int k = 0; k < taps.taps; ++k) all[static_cast<std::size_t>(k)] = taps.weight_of(output, k);
  return all;
}

TEST(PlanarTaps, AreOneSampleWhereNothingIsResampled) {
  const PlanarAxisTaps taps = taps_of(AxisMap::identity(5), Filter::kBilinear);
  EXPECT_EQ(taps.taps, 1);
  for (int o = 0; o < 5; ++o) {
    EXPECT_EQ(taps.first[static_cast<std::size_t>(o)], o);
    EXPECT_THAT(weights(taps, o), ElementsAre(256));
  }
}

TEST(PlanarTaps, AreTheTriangleOfFancyUpsamplingOnAHalvedPlane) {
  const PlanarAxisTaps taps = taps_of(AxisMap::identity(5), Filter::kBilinear, 2);  // 3 samples
  const auto seen = [&](int output, int sample) {
    const int k = sample - taps.first[static_cast<std::size_t>(output)];
    return k < 0 || k >= taps.taps ? 0 : int{taps.weight_of(output, k)};
  };
  const int expected[5][3] = {{256, 0, 0}, {192, 64, 0}, {64, 192, 0}, {0, 192, 64}, {0, 64, 192}};
  for (int o = 0; o < 5; ++o) {
    for (int sample = 0; sample < 3; ++sample) EXPECT_EQ(seen(o, sample), expected[o][sample]) << o << " " << sample;
  }
}

TEST(PlanarTaps, HalveByAveragingWithTheNeighbours) {
  const PlanarAxisTaps taps = taps_of(resized(8, 4), Filter::kBilinear);
  EXPECT_EQ(taps.first[1], 1);
  EXPECT_THAT(weights(taps, 1), ElementsAre(32, 96, 96, 32));
}

TEST(PlanarTaps, BreakTiesTowardsTheEndOfTheStoredImage) {
  EXPECT_EQ(taps_of(resized(2, 1), Filter::kNearest).first[0], 1);
  EXPECT_EQ(taps_of(resized(4, 2), Filter::kNearest).first[0], 1);
  EXPECT_EQ(taps_of(resized(4, 2), Filter::kNearest).first[1], 3);
  AxisMap mirrored = resized(4, 2);
  mirrored.source_mirrored = true;
  EXPECT_EQ(taps_of(mirrored, Filter::kNearest).first[0], 3);
  EXPECT_EQ(taps_of(mirrored, Filter::kNearest).first[1], 1);
  // Box, 3 to 2: the middle pixel's centre lies on the edge of both columns; it is the first's.
  const PlanarAxisTaps box = taps_of(resized(3, 2), Filter::kBox);
  EXPECT_THAT(weights(box, 0), ElementsAre(128, 128));
  EXPECT_EQ(box.first[1], 2);
  EXPECT_THAT(weights(box, 1), ElementsAre(256, 0));
}

TEST(PlanarTaps, AreTheSameWhetherMirroredBeforeOrAfterTheResize) {
  for (const Filter filter : {Filter::kNearest, Filter::kBox, Filter::kBilinear, Filter::kBicubic}) {
    for (const int factor : {1, 2, 4}) {
      AxisMap before = AxisMap::identity(37), after = AxisMap::identity(37);
      before.crop(3, 29);
      before.mirror();
      before.resize(21);
      after.crop(3, 29);
      after.resize(21);
      after.mirror();
      const PlanarAxisTaps a = taps_of(before, filter, factor), b = taps_of(after, filter, factor);
      EXPECT_EQ(a.first, b.first);
      EXPECT_EQ(a.taps, b.taps);
      for (int o = 0; o < 21; ++o) EXPECT_EQ(weights(a, o), weights(b, o)) << to_string(filter) << " " << factor;
    }
  }
}

AxisMap random_axis(Noise& noise, int round) {
  const int size = noise.between(1, round % 4 ? 60 : 2000);
  AxisMap axis = resized(size, noise.between(1, round % 8 ? 90 : 3000));
  axis.clamp_begin = noise.between(0, size - 1);
  axis.box_length = size - axis.clamp_begin;
  if (round % 3 == 0) axis.box_length *= noise.between(1, 97) / 97.0;
  return axis;
}

TEST(PlanarTaps, SumToOneWithinTheCrop) {
  Noise noise(3);
  for (int round = 0; round < 3000; ++round) {
    const AxisMap axis = random_axis(noise, round);
    const int factor = noise.between(1, 4);
    const auto filter = std::array{Filter::kNearest, Filter::kBox, Filter::kBilinear, Filter::kBicubic}[round % 4u];
    const PlanarAxisTaps taps = taps_of(axis, filter, factor);
    ASSERT_GE(taps.source_begin, axis.clamp_begin / factor - 1);
    ASSERT_LE(taps.source_end, (axis.clamp_end + factor - 1) / factor);
    for (int o = 0; o < taps.outputs; ++o) {
      const std::vector<int> all = weights(taps, o);
      ASSERT_EQ(std::accumulate(all.begin(), all.end(), 0), 1 << taps.bits);
      ASSERT_GE(*std::min_element(all.begin(), all.end()), filter == Filter::kBicubic ? -4096 : 0);
    }
  }
}

// What 16 bits between the passes rely on (docs/pixels.md, sizes).
TEST(PlanarTaps, OfBicubicStayWithinTheirBounds) {
  Noise noise(4);
  int heaviest = 0;
  for (int round = 0; round < 2000; ++round) {
    const PlanarAxisTaps taps = taps_of(random_axis(noise, round), Filter::kBicubic, noise.between(1, 4));
    for (int o = 0; o < taps.outputs; ++o) {
      int magnitude = 0;
      for (const int weight : weights(taps, o)) magnitude += std::abs(weight);
      heaviest = std::max(heaviest, magnitude);
    }
  }
  EXPECT_GT(heaviest, 16'384 * 5 / 4 - 64) << "a lobe at an edge";
  EXPECT_LT(heaviest, 16'384 * 326 / 100);
}

// The set-up of bilinear weights in 32-bit integers against the same in 64 bits, which fractions mostly ask for.
class PlanarTapsOn : public EachIsa {};
INSTANTIATE_TEST_SUITE_P(Isa, PlanarTapsOn, testing::ValuesIn(kIsaNames), isa_name);

TEST_P(PlanarTapsOn, AreTheSameInFewBitsAsInMany) {
  Noise noise(5);
  for (int round = 0; round < 1000; ++round) {
    const int size = noise.between(1, round % 4 ? 500 : 6000), target = noise.between(1, round % 4 ? 300 : 3000);
    const int factor = noise.between(1, 2), whole = (size + factor - 1) / factor;
    AxisMap axis = resized(size, target);
    axis.clamp_begin = noise.between(0, size - 1);
    axis.box_length = size - axis.clamp_begin;
    axis.flip = noise.between(0, 1);
    axis.source_mirrored = noise.between(0, 1);
    // A box that is moved by less than half of a 4096th is the same box, counted in 4096ths.
    AxisMap moved = axis;
    moved.box_begin = 1.0 / 16'384;
    moved.box_length -= 1.0 / 8'192;
    PlanarAxisTaps few, many;
    build_planar_taps(axis, Filter::kBilinear, factor, whole, true, kPlanarBits, few);
    build_planar_taps(moved, Filter::kBilinear, factor, whole, true, kPlanarBits, many);
    ASSERT_EQ(few.source_begin, many.source_begin);
    ASSERT_EQ(few.source_end, many.source_end);
    ASSERT_EQ(few.first, many.first) << size << " to " << target;
    ASSERT_EQ(few.taps, many.taps);
    for (int o = 0; o < few.outputs; ++o) ASSERT_EQ(weights(few, o), weights(many, o)) << size << " to " << target;
  }
}

TEST(PlanarTaps, AllocateNothingOnceTheyHaveSeenTheSizes) {
  PlanarTaps taps;
  Planes planes;
  planes.count = 3;
  planes.plane[0] = {.whole_width = 60, .whole_height = 50};
  planes.plane[1] = planes.plane[2] = {.whole_width = 30, .whole_height = 25, .across = 2, .down = 2};
  std::int64_t before = 0;
  for (int round = 0; round < 5; ++round) {
    if (round == 1) before = allocations_so_far();
    for (const Filter filter : {Filter::kBicubic, Filter::kBilinear, Filter::kBox}) {
      SamplingMap map;
      map.x = resized(60, 40);
      map.y = resized(50, 33);
      map.filter = filter;
      taps.build(map, planes);
      EXPECT_EQ(taps.source(1), (Rect{0, 0, 30, 25}));
    }
  }
  EXPECT_EQ(allocations_so_far() - before, 0);
}

TEST(YccFromRgb, IsExactForGreysAndClampsTheRest) {
  for (int v = 0; v < 256; ++v) {
    const auto grey = static_cast<std::uint8_t>(v);
    EXPECT_THAT(ycc_from_rgb({grey, grey, grey}), ElementsAre(v, 128, 128));
  }
  EXPECT_THAT(ycc_from_rgb({0, 0, 255}), ElementsAre(29, 255, 107));
  EXPECT_THAT(ycc_from_rgb({255, 0, 0}), ElementsAre(76, 85, 255));
}

}  // namespace
}  // namespace stoker
