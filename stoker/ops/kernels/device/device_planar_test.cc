// The device's kernel of planar geometry beside the CPU's: bit for bit.
#include "stoker/ops/kernels/device/device_planar.h"

#include <fmt/format.h>

#include <memory>

#include "stoker/base/rounds_testing.h"
#include "stoker/ops/kernels/device/device_kernel_testing.h"
#include "stoker/ops/kernels/planar/planar_resample.h"
#include "stoker/ops/sampling_map_testing.h"

namespace stoker {
namespace {

struct Factors {
  int across = 1, down = 1;
};
// How the planes of an image are coarser than it.
using Subsampling = std::vector<Factors>;
const std::vector<Subsampling> kSubsamplings = {{{1, 1}, {1, 1}, {1, 1}},  // 4:4:4
                                                {{1, 1}, {2, 2}, {2, 2}},  // 4:2:0
                                                {{1, 1}, {2, 1}, {2, 1}},  // 4:2:2
                                                {{1, 1}},                  // grey
                                                {{1, 1}, {1, 2}, {1, 2}},  // 4:4:0
                                                {{1, 1}, {4, 1}, {4, 1}},  // 4:1:1
                                                {{1, 1}, {2, 2}, {4, 4}},
                                                {{1, 1}, {3, 3}, {3, 3}},
                                                {{2, 2}, {1, 1}, {1, 1}},
                                                {{1, 1}, {3, 1}, {1, 4}}};
constexpr Filter kFilters[] = {Filter::kBilinear, Filter::kNearest, Filter::kBox, Filter::kBicubic};

Planes described(int width, int height, const Subsampling& subsampling) {
  Planes planes;
  for (const Factors& factors : subsampling) {
    planes.plane[static_cast<std::size_t>(planes.count++)] = Plane::of(width, height, factors.across, factors.down);
  }
  return planes;
}

// Images that become tensors of one size in one launch.
class Launch {
 public:
  Launch(int width, int height, int count, std::uint32_t seed)
      : noise_(seed),
        fence_(seed % 2 ? FencedBytes::Fence::kAfter : FencedBytes::Fence::kBefore),
        slots_(count + 1),
        tensors_(test_color(seed / 8), test_format(seed), width, height, slots_, fence_) {}

  /// `map` is of the stored image, which is turned if `transposed`.
  void add(const SamplingMap& map, const Subsampling& subsampling, bool transposed) {
    Planes planes = described(map.x.clamp_end, map.y.clamp_end, subsampling);
    PlanarTaps taps;
    taps.build(map, planes);
    std::uint64_t samples[3] = {};
    std::vector<std::vector<std::uint8_t>> of_cpu;  // which may read beyond rows
    for (std::size_t p = 0; p < subsampling.size(); ++p) {
      Plane& plane = planes.plane[p];
      hold(plane, taps.source(static_cast<int>(p)));
      const auto stride = static_cast<std::size_t>(plane.row_stride);
      const std::size_t bytes = stride * static_cast<std::size_t>(plane.height);
      samples[p] = memory_.take(bytes, fence_);
      std::uint8_t* const to = memory_.base() + samples[p];
      std::generate(to, to + bytes, [&] {
        const int kind = noise_.between(0, 5);
        return kind == 0 ? std::uint8_t{0} : kind == 1 ? std::uint8_t{255} : noise_.byte();
      });
      of_cpu.emplace_back(to, to + bytes).resize(bytes + kPlaneSlack);
      plane.samples = of_cpu.back().data();
    }
    ASSERT_GT(device_rows(planes, taps), 0);
    const std::size_t tables = memory_.take(device_taps_bytes(taps), FencedBytes::Fence::kAfter);
    images_.push_back(describe_for_device(planes, samples, taps, memory_.base() + tables, std::uint64_t{tables}));
    DevicePlanarImage& image = images_.back();
    image.transposed = transposed;
    image.slot = static_cast<int>(images_.size()) % slots_;
    image.first_block = blocks_;
    blocks_ += (image.height + image.rows - 1) / image.rows;
    make_on_cpu(planes, taps, transposed, tensors_.want(image.slot));
  }

  void expect_agreement(const std::string& what) {
    tensors_.expect_from<DevicePlanarKernel>({.memory = memory_.base(),
                                              .samples = memory_.base(),
                                              .out = tensors_.out(),
                                              .images = images_.data(),
                                              .image_count = static_cast<int>(images_.size()),
                                              .color = tensors_.color()},
                                             blocks_, what);
  }

  int rows_of_first() const { return images_.front().rows; }

 private:
  // What is needed of a plane, and at times a little more.
  void hold(Plane& plane, Rect needed) {
    const int more = noise_.between(0, 3);
    plane.x = std::max(0, needed.x - more);
    plane.y = std::max(0, needed.y - more);
    plane.width = std::max(1, std::min(needed.x + needed.width + more, plane.whole_width) - plane.x);
    plane.height = std::max(1, std::min(needed.y + needed.height + more, plane.whole_height) - plane.y);
    constexpr int kUnit = kDeviceRowAlignment;
    plane.row_stride = (plane.width + kUnit - 1) / kUnit * kUnit + kUnit * noise_.between(0, 1);
  }

  void make_on_cpu(const Planes& planes, const PlanarTaps& taps, bool transposed, std::uint8_t* to) {
    if (!transposed) return resampler_.resample_converted(planes, taps, tensors_.map(), tensors_.format(), to);
    const int width = taps.width(), height = taps.height();
    const std::ptrdiff_t samples = std::ptrdiff_t{width} * height;
    std::vector<std::uint8_t> resized(static_cast<std::size_t>(3 * samples));
    resampler_.resample(planes, taps, {resized.data(), width, height, 3, width, 1, samples});
    convert_planes({resized.data(), height, width, 3, 1, width, samples}, tensors_.map(), tensors_.format(), to);
  }

  Noise noise_;
  const FencedBytes::Fence fence_;
  const int slots_;
  LaunchedTensors tensors_;
  FencedSpace memory_{std::size_t{1} << 30};
  std::vector<DevicePlanarImage> images_;
  PlanarResampler resampler_;
  int blocks_ = 0;
};

TEST(DevicePlanar, MakesTheTensorsOfTheCpuAtAwkwardSizesOfManyImagesInOneLaunch) {
  std::uint32_t seed = 0;
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {300, 1}, {7, 8}, {16, 17}, {65, 33}, {257, 5}}) {
    for (int i = 0; i < 8; ++i, ++seed) {
      Launch launch(width, height, 11, seed);
      std::uint32_t number = seed;
      for (const auto& [w, h] : {std::pair{1, 1},
                                 {1, 90},
                                 {90, 1},
                                 {2, 3},
                                 {16, 15},
                                 {17, 64},
                                 {300, 200},
                                 {64, 7},
                                 {5, 400},
                                 {33, 33},
                                 {width, height}}) {
        const bool transposed = number % 5 == 0;
        AxisMap x = resized(w, transposed ? height : width), y = resized(h, transposed ? width : height);
        x.flip = number % 2 == 1;
        y.flip = number % 3 == 2;
        launch.add(map_of(x, y, kFilters[number / 3 % 4]), kSubsamplings[number % kSubsamplings.size()], transposed);
        if (testing::Test::HasFatalFailure()) return;
        ++number;
      }
      launch.expect_agreement(fmt::format("seed {}", seed));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

AxisMap random_axis(Noise& noise, int size, int length) {
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
  map.window_begin = noise.between(-length, map.target + 2);  // also such that nothing but padding is shown
  map.length = length;
  map.dropped_before = std::max(0, noise.between(-map.target, map.target));
  map.dropped_after = std::max(0, noise.between(-map.target, map.target));
  map.flip = noise.between(0, 1);
  return map;
}

TEST(DevicePlanar, MakesTheTensorsOfTheCpuForCropsWindowsMirrorsPaddingAndFractions) {
  for (std::uint32_t seed = 0; seed < rounds(200U); ++seed) {
    Noise noise(seed);
    const int width = noise.between(1, 60), height = noise.between(1, 40);
    Launch launch(width, height, 4, seed);
    for (int i = 0; i < 4; ++i) {
      const bool transposed = noise.between(0, 3) == 0;
      const AxisMap x = random_axis(noise, noise.between(1, 200), transposed ? height : width);
      const AxisMap y = random_axis(noise, noise.between(1, 80), transposed ? width : height);
      launch.add(map_of(x, y, kFilters[noise.between(0, 3)]), kSubsamplings[noise.next() % kSubsamplings.size()],
                 transposed);
      if (testing::Test::HasFatalFailure()) return;
    }
    launch.expect_agreement(fmt::format("seed {}", seed));
    if (testing::Test::HasFatalFailure()) return;
  }
}

// What a block's threads share bounds how many rows it makes, down to one, and then to none.
TEST(DevicePlanar, MakesFewerRowsAtATimeWhereTheyAreLonger) {
  const Subsampling& k444 = kSubsamplings[0];
  std::uint32_t seed = 0;
  for (const auto& [width, filter, rows] : {std::tuple{1300, Filter::kBilinear, 8},
                                            {2000, Filter::kBilinear, 5},
                                            {10'900, Filter::kBilinear, 1},
                                            {5400, Filter::kBicubic, 1}}) {
    Launch launch(70, 11, 1, seed++);
    launch.add(map_of(resized(width, 70), resized(13, 11), filter), k444, false);
    EXPECT_EQ(launch.rows_of_first(), rows) << width;
    launch.expect_agreement(fmt::format("{} columns", width));
  }
  for (const auto& [width, filter] : {std::pair{10'930, Filter::kBox}, {5470, Filter::kBicubic}}) {
    Planes planes = described(width, 2, k444);
    PlanarTaps taps;
    taps.build(map_of(resized(width, 70), resized(2, 2), filter), planes);
    EXPECT_EQ(device_rows(planes, taps), 0) << width;
  }
}

}  // namespace
}  // namespace stoker
