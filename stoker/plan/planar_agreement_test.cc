// Planar resampling, fused and in two steps, against its definition: bit for bit, on every instruction set, with planes
// whose memory ends where kernels have to stop reading.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/allocations_testing.h"
#include "stoker/base/error.h"
#include "stoker/base/fenced_bytes_testing.h"
#include "stoker/base/hash.h"
#include "stoker/base/isa_testing.h"
#include "stoker/base/noise_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/ops/kernels/planar/planar_resample.h"
#include "stoker/ops/sampling_map_testing.h"
#include "stoker/plan/reference_planar.h"

namespace stoker {
namespace {

struct Factors {
  int across = 1, down = 1;
};

// How the planes of an image are coarser than it.
using Subsampling = std::vector<Factors>;
const Subsampling k444 = {{1, 1}, {1, 1}, {1, 1}}, k420 = {{1, 1}, {2, 2}, {2, 2}}, k422 = {{1, 1}, {2, 1}, {2, 1}},
                  kGrey = {{1, 1}};
const std::vector<Subsampling> kSubsamplings = {
    k444,
    k420,
    k422,
    kGrey,
    {{1, 1}, {1, 2}, {1, 2}},
    {{1, 1}, {4, 1}, {4, 1}},
    {{1, 1}, {2, 2}, {4, 4}},
    {{1, 1}, {3, 3}, {3, 3}},
    {{2, 2}, {1, 1}, {1, 1}},
    {{1, 1}, {3, 1}, {1, 4}},
    {{2, 1}},
};
constexpr Filter kFilters[] = {Filter::kBilinear, Filter::kNearest, Filter::kBox, Filter::kBicubic};

std::vector<PlainPlane> noise_planes(int width, int height, const Subsampling& subsampling, std::uint32_t seed) {
  Noise noise(seed);
  std::vector<PlainPlane> planes;
  for (const Factors& factors : subsampling) {
    PlainPlane plane{(width + factors.across - 1) / factors.across,
                     (height + factors.down - 1) / factors.down,
                     factors.across,
                     factors.down,
                     {}};
    for (int i = 0; i < plane.width * plane.height; ++i) {
      const int kind = noise.between(0, 5);
      plane.samples.push_back(kind == 0 ? 0 : kind == 1 ? 255 : noise.byte());
    }
    planes.push_back(std::move(plane));
  }
  return planes;
}

// The parts of planes that the taps ask for, and at times a little more, each in memory that is fenced: before the
// first row's first sample, or right behind the slack of the last row.
class HeldPlanes {
 public:
  static Planes described(const std::vector<PlainPlane>& whole) {
    Planes planes;
    planes.count = static_cast<int>(whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      Plane& plane = planes.plane[i];
      plane.whole_width = whole[i].width;
      plane.whole_height = whole[i].height;
      plane.across = whole[i].across;
      plane.down = whole[i].down;
    }
    return planes;
  }

  HeldPlanes(const std::vector<PlainPlane>& whole, const PlanarTaps& taps, FencedBytes::Fence fence, Noise& noise)
      : planes_(described(whole)) {
    for (std::size_t i = 0; i < whole.size(); ++i) {
      Plane& plane = planes_.plane[i];
      const Rect needed = taps.source(static_cast<int>(i));
      const int more = noise.between(0, 3);
      plane.x = std::max(0, needed.x - more);
      plane.y = std::max(0, needed.y - more);
      plane.width = std::max(1, std::min(needed.x + needed.width + more, plane.whole_width) - plane.x);
      plane.height = std::max(1, std::min(needed.y + needed.height + more, plane.whole_height) - plane.y);
      plane.row_stride = plane.width + noise.between(0, 70);
      const auto rows = static_cast<std::size_t>(plane.row_stride) * static_cast<std::size_t>(plane.height - 1);
      const std::size_t size = rows + static_cast<std::size_t>(plane.width) + kPlaneSlack;
      memory_.push_back(std::make_unique<FencedBytes>(size, fence));
      std::uint8_t* samples = memory_.back()->data();
      std::generate(samples, samples + size, [&] { return noise.byte(); });
      for (int y = 0; y < plane.height; ++y) {
        const auto from = static_cast<std::ptrdiff_t>(plane.y + y) * plane.whole_width + plane.x;
        std::copy_n(whole[i].samples.begin() + from, plane.width, samples + y * plane.row_stride);
      }
      plane.samples = samples;
    }
  }
  const Planes& planes() const { return planes_; }

 private:
  Planes planes_;
  std::vector<std::unique_ptr<FencedBytes>> memory_;
};

ColorMap some_color() {
  ColorMap color;
  color.from = {2, 0, 1};
  color.scale = {0.017f, -0.0175f, 1.0f};
  color.bias = {-2.1f, 0.25f, 0.0f};
  return color;
}

ColorMap imagenet() {
  ColorMap color;
  color.scale = {1 / (255 * 0.229f), 1 / (255 * 0.224f), 1 / (255 * 0.225f)};
  color.bias = {-0.485f / 0.229f, -0.456f / 0.224f, -0.406f / 0.225f};
  return color;
}

// Far beyond what u8 and f16 hold, on either side.
ColorMap steep() {
  ColorMap color;
  color.from = {0, 2, 1};
  color.scale = {3.0f, -2.0f, 1e30f};
  color.bias = {-100.0f, 300.0f, -1e32f};
  return color;
}

ColorMap color_of(std::uint32_t seed) {
  const ColorMap colors[] = {ColorMap(), some_color(), imagenet(), steep(), ColorMap()};
  return colors[seed % 5];
}

TensorFormat format_of(std::uint32_t seed) {
  constexpr DType kDTypes[] = {DType::kF32, DType::kU8, DType::kF16, DType::kBF16};
  return {kDTypes[seed % 4], seed / 4 % 3 == 0 ? Layout::kNhwc : Layout::kNchw};
}

// The reference is slow, and the same for every instruction set: it is asked once.
const std::vector<PlainPlane>& expected_geometry(const std::vector<PlainPlane>& planes, const SamplingMap& map,
                                                 std::uint32_t seed) {
  static std::map<std::pair<std::string, std::uint32_t>, std::vector<PlainPlane>> known;
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  const auto [place, is_new] = known.try_emplace({name.substr(0, name.find('/')), seed});
  if (is_new) place->second = reference_planar_geometry(planes, map);
  return place->second;
}

// Planes in memory with gaps between their rows, which are watched.
struct WatchedPlanes {
  static constexpr std::uint8_t kGap = 0xA5;
  std::size_t width, height, stride;
  std::vector<std::uint8_t> bytes;
  MutableImageView view;

  WatchedPlanes(int w, int h, int count)
      : width(static_cast<std::size_t>(w)),
        height(static_cast<std::size_t>(h)),
        stride(width + 3),
        bytes(stride * height * static_cast<std::size_t>(count), kGap) {
    const auto row = static_cast<std::ptrdiff_t>(stride);
    view = {bytes.data(), w, h, count, row, 1, row * h};
  }

  void expect_equal(const std::vector<PlainPlane>& expected) const {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      for (std::size_t y = 0; y < height; ++y) {
        const std::uint8_t* row = bytes.data() + (i * height + y) * stride;
        for (std::size_t x = 0; x < stride; ++x) {
          ASSERT_EQ(row[x], x < width ? expected[i].samples[y * width + x] : kGap)
              << "plane " << i << " at " << x << "," << y;
        }
      }
    }
  }
};

struct Resampling {
  PlanarResampler resampler;
  PlanarTaps taps;

  void expect_as_defined(const std::vector<PlainPlane>& whole, const SamplingMap& map, std::uint32_t seed) {
    const testing::ScopedTrace trace(
        __FILE__, __LINE__,
        testing::Message() << "seed " << seed << ": " << map.x.clamp_end << "x" << map.y.clamp_end << " to "
                           << map.x.target << "x" << map.y.target << " shown " << map.width() << "x" << map.height()
                           << " " << to_string(map.filter) << ", planes " << whole.size() << ", factors of the last "
                           << whole.back().across << "x" << whole.back().down);
    Noise noise(seed);
    const auto fence = seed % 2 ? FencedBytes::Fence::kAfter : FencedBytes::Fence::kBefore;
    taps.build(map, HeldPlanes::described(whole));
    const HeldPlanes held(whole, taps, fence, noise);
    const std::vector<PlainPlane>& expected = expected_geometry(whole, map, seed);
    ASSERT_EQ(taps.channels(), static_cast<int>(expected.size()));
    ASSERT_EQ(taps.width(), map.width());
    ASSERT_EQ(taps.height(), map.height());

    WatchedPlanes alone(taps.width(), taps.height(), taps.channels());
    resampler.resample(held.planes(), taps, alone.view);
    ASSERT_NO_FATAL_FAILURE(alone.expect_equal(expected));

    const ColorMap color = color_of(seed);
    const TensorFormat format = format_of(seed);
    const std::vector<std::uint8_t> finished = reference_planar_color(expected, color, format);
    FencedBytes converted(finished.size(), fence), fused(finished.size(), fence);
    convert_planes(alone.view, color, format, converted.data());
    ASSERT_EQ(std::memcmp(converted.data(), finished.data(), finished.size()), 0);
    resampler.resample_converted(held.planes(), taps, color, format, fused.data());
    ASSERT_EQ(std::memcmp(fused.data(), finished.data(), finished.size()), 0);
  }
};

class PlanarOn : public EachIsa {};
INSTANTIATE_TEST_SUITE_P(Isa, PlanarOn, testing::ValuesIn(kIsaNames), isa_name);

TEST_P(PlanarOn, EqualsTheDefinitionAtAwkwardSizes) {
  Resampling resampling;
  std::uint32_t seed = 0;
  for (const int source : {1, 2, 3, 4, 15, 16, 17, 33, 63, 64, 65, 130, 333}) {
    for (const int target : {1, 2, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 80}) {
      const int other_source = 1 + static_cast<int>(seed % 23), other_target = 1 + static_cast<int>(seed % 19);
      AxisMap long_axis = resized(source, target), short_axis = resized(other_source, other_target);
      long_axis.flip = seed % 3 == 0;
      short_axis.flip = seed % 7 == 0;
      const SamplingMap map = seed % 2 ? map_of(long_axis, short_axis, kFilters[seed / 2 % 4])
                                       : map_of(short_axis, long_axis, kFilters[seed / 2 % 4]);
      const Subsampling& subsampling = kSubsamplings[seed % kSubsamplings.size()];
      const auto planes = noise_planes(map.x.clamp_end, map.y.clamp_end, subsampling, seed);
      resampling.expect_as_defined(planes, map, seed);
      ++seed;
      if (HasFatalFailure()) return;
    }
  }
}

AxisMap random_axis(int size, Noise& noise) {
  AxisMap map = AxisMap::identity(size);
  map.resampled = noise.between(0, 4) != 0;
  if (map.resampled) {
    map.clamp_begin = noise.between(0, size - 1);
    map.clamp_end = noise.between(map.clamp_begin + 1, size);
    const int cropped = map.clamp_end - map.clamp_begin;
    map.box_length = cropped;
    if (noise.between(0, 2) == 0) {
      map.box_begin = cropped * noise.between(0, 7) / 11.0;
      map.box_length = (cropped - map.box_begin) * noise.between(4, 16) / 16.0;
    }
    map.target = noise.between(1, 90);
    map.source_mirrored = noise.between(0, 1);
  }
  map.window_begin = noise.between(0, map.target - 1);
  map.length = noise.between(1, map.target - map.window_begin);
  if (noise.between(0, 3) == 0) {
    map.window_begin = noise.between(-9, map.target + 3);
    map.length = noise.between(1, map.target + 8);
  }
  map.dropped_before = std::max(0, noise.between(-map.target, map.target));
  map.dropped_after = std::max(0, noise.between(-map.target, map.target));
  map.flip = noise.between(0, 1);
  return map;
}

TEST_P(PlanarOn, EqualsTheDefinitionForCropsWindowsMirrorsPaddingAndFractions) {
  Resampling resampling;
  Noise noise(11);
  for (std::uint32_t seed = 0; seed < rounds(400u); ++seed) {
    const int width = noise.between(1, 200), height = noise.between(1, 60);
    const SamplingMap map =
        map_of(random_axis(width, noise), random_axis(height, noise), kFilters[noise.between(0, 3)]);
    const auto subsampling = static_cast<std::size_t>(noise.between(0, static_cast<int>(kSubsamplings.size()) - 1));
    resampling.expect_as_defined(noise_planes(width, height, kSubsamplings[subsampling], seed), map, seed);
    if (HasFatalFailure()) return;
  }
}

TEST_P(PlanarOn, EqualsTheDefinitionForExtremeShapes) {
  Resampling resampling;
  std::uint32_t seed = 0;
  const int shapes[][4] = {{1, 700, 5, 3},     {700, 1, 3, 5},     {3000, 2, 1, 1},    {2, 3000, 1, 1},
                           {1, 1, 300, 2},     {1, 1, 2, 300},     {900, 3, 224, 2},   {1000, 2, 100, 7},
                           {2000, 2, 97, 3},   {65'535, 1, 20, 1}, {1, 65'535, 1, 20}, {65'535, 1, 1, 1},
                           {40'000, 1, 33, 2}, {3, 1, 100'000, 1}, {700, 400, 64, 64}};
  for (const auto& [width, height, target_width, target_height] : shapes) {
    for (const Filter filter : kFilters) {
      const SamplingMap map = map_of(resized(width, target_width), resized(height, target_height), filter);
      const Subsampling& subsampling = seed % 3 == 0 ? k444 : seed % 3 == 1 ? k420 : kSubsamplings[seed % 11];
      resampling.expect_as_defined(noise_planes(width, height, subsampling, seed), map, seed);
      ++seed;
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(PlanarOn, EqualsTheDefinitionWhenAWindowOfAHugeTargetIsShown) {
  Resampling resampling;
  std::uint32_t seed = 0;
  for (const int source : {1, 3, 999, 65'535}) {
    for (const Filter filter : kFilters) {
      AxisMap wide = resized(source, 1'000'000);
      wide.box_begin = source / 3.0;
      wide.box_length = source / 2.0;
      wide.window_begin = 612'345;
      wide.length = 40;
      AxisMap other = resized(5, 6);
      other.window_begin = 2;
      other.length = 3;
      const bool across = seed % 2;
      const SamplingMap map = across ? map_of(wide, other, filter) : map_of(other, wide, filter);
      const auto planes = noise_planes(across ? source : 5, across ? 5 : source, seed % 3 ? k420 : k444, seed);
      resampling.expect_as_defined(planes, map, seed);
      ++seed;
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(PlanarOn, TakesAnyChannelOfTheSourceForEachOfTheOutput) {
  const std::vector<PlainPlane> planes = noise_planes(37, 11, k444, 1);
  ColorMap color = imagenet();
  color.from = {1, 1, 2};
  const SamplingMap map = map_of(resized(37, 30), resized(11, 9), Filter::kBilinear);
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    Noise noise(seed);
    PlanarTaps taps;
    taps.build(map, HeldPlanes::described(planes));
    const HeldPlanes held(planes, taps, FencedBytes::Fence::kAfter, noise);
    const std::vector<std::uint8_t> expected =
        reference_planar_color(reference_planar_geometry(planes, map), color, format_of(seed));
    std::vector<std::uint8_t> out(expected.size());
    PlanarResampler().resample_converted(held.planes(), taps, color, format_of(seed), out.data());
    ASSERT_EQ(out, expected) << seed;
  }
}

TEST_P(PlanarOn, RefusesAnElementTypeThatImagesDoNotHave) {
  const std::uint8_t sample = 1;
  std::uint8_t out[24];
  EXPECT_THROW(convert_planes({&sample, 1, 1, 1, 1, 1, 1}, {}, {DType::kI64, Layout::kNchw}, out), Error);
}

TEST_P(PlanarOn, AllocatesNothingOnceItHasSeenTheSizes) {
  const std::vector<PlainPlane> planes = noise_planes(90, 70, k420, 1);
  Resampling resampling;
  std::vector<std::uint8_t> out(50 * 50 * 3 * sizeof(float));
  Noise noise(1);
  const SamplingMap whole = SamplingMap::identity(90, 70);
  resampling.taps.build(whole, HeldPlanes::described(planes));
  const HeldPlanes held(planes, resampling.taps, FencedBytes::Fence::kAfter, noise);
  std::int64_t before = 0;
  for (int round = 0; round < 4; ++round) {
    if (round == 1) before = allocations_so_far();
    for (const Filter filter : kFilters) {
      for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
        resampling.taps.build(map_of(resized(90, 50), resized(70, 50), filter), held.planes());
        resampling.resampler.resample_converted(held.planes(), resampling.taps, imagenet(), {DType::kF32, layout},
                                                out.data());
      }
    }
  }
  EXPECT_EQ(allocations_so_far() - before, 0);
}

TEST_P(PlanarOn, ConvertsPlanesOfAnyStridesAlike) {
  for (std::uint32_t seed = 0; seed < 24; ++seed) {
    const int width = 1 + static_cast<int>(seed * 7 % 71), height = 1 + static_cast<int>(seed * 5 % 23);
    const std::vector<PlainPlane> planes = noise_planes(width, height, seed % 5 == 0 ? kGrey : k444, seed);
    const auto count = static_cast<int>(planes.size());
    const auto all = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    const std::vector<std::uint8_t> expected = reference_planar_color(planes, some_color(), format_of(seed));
    // Mirrored both ways and transposed in memory.
    std::vector<std::uint8_t> turned(all * planes.size());
    const MutableImageView view{turned.data() + all - 1,         width, height, count, -1, -height,
                                static_cast<std::ptrdiff_t>(all)};
    for (int i = 0; i < count; ++i) {
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x)
          *view.at(x, y, i) = planes[static_cast<std::size_t>(i)].samples[static_cast<std::size_t>(y * width + x)];
      }
    }
    FencedBytes out(expected.size(), seed % 2 ? FencedBytes::Fence::kAfter : FencedBytes::Fence::kBefore);
    convert_planes(view, some_color(), format_of(seed), out.data());
    ASSERT_EQ(std::memcmp(out.data(), expected.data(), expected.size()), 0) << seed;
  }
}

}  // namespace
}  // namespace stoker
