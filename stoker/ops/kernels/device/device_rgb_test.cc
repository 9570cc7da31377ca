// The device's kernel of faithful geometry beside the CPU's: bit for bit.
#include "stoker/ops/kernels/device/device_rgb.h"

#include <fmt/format.h>

#include <memory>

#include "stoker/base/rounds_testing.h"
#include "stoker/ops/kernels/device/device_kernel_testing.h"
#include "stoker/ops/kernels/resample/resample.h"
#include "stoker/ops/sampling_map_testing.h"

namespace stoker {
namespace {

constexpr std::array<std::uint8_t, 3> kFill = {201, 7, 99};
constexpr Filter kFilters[] = {Filter::kBilinear, Filter::kNearest, Filter::kBox, Filter::kBicubic};

constexpr PassOrder kOrders[] = {PassOrder::kHorizontalFirst, PassOrder::kVerticalFirst};

// Images that become tensors of one size in one launch.
class Launch {
 public:
  Launch(int width, int height, int count, std::uint32_t seed)
      : noise_(seed),
        fence_(seed % 2 ? FencedBytes::Fence::kAfter : FencedBytes::Fence::kBefore),
        slots_(count + 1),
        tensors_(test_color(seed / 8), test_format(seed), width, height, slots_, fence_) {}

  /// False for what is too large for the kernel.
  bool add(const AxisMap& x, const AxisMap& y, Filter filter, PassOrder order) {
    AxisTaps across, down;
    build_taps(x, filter, across);
    build_taps(y, filter, down);
    if (device_rows(across, down, order) == 0) return false;
    // The source shows what the taps need, and at times a little more.
    const auto place = [&](const AxisTaps& taps, int& origin) {
      origin = std::max(0, taps.source_begin - noise_.between(0, 2));
      return std::max(1, taps.source_end + noise_.between(0, 2) - origin);
    };
    ResampleSource source;
    const int width = place(across, source.origin_x), height = place(down, source.origin_y);
    const std::size_t bytes = 3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    const std::size_t pixels = memory_.take(bytes, fence_);
    std::uint8_t* const samples = memory_.base() + pixels;
    std::generate(samples, samples + bytes, [&] {
      const int kind = noise_.between(0, 5);
      return kind == 0 ? std::uint8_t{0} : kind == 1 ? std::uint8_t{255} : noise_.byte();
    });
    source.pixels = interleaved_view<const std::uint8_t>(samples, width, height, 3);

    const std::size_t tables = memory_.take(device_taps_bytes(across, down), FencedBytes::Fence::kAfter);
    images_.push_back(describe_for_device(source, pixels, across, down, order, kFill, memory_.base() + tables,
                                          std::uint64_t{tables}));
    DeviceRgbImage& image = images_.back();
    image.slot = static_cast<int>(images_.size()) % slots_;
    image.first_block = blocks_;
    blocks_ += (tensors_.color().height + image.rows - 1) / image.rows;
    resampler_.resample_converted(source, across, down, kFill, tensors_.map(), tensors_.format(),
                                  tensors_.want(image.slot), order);
    return true;
  }

  void expect_agreement(const std::string& what) {
    tensors_.expect_from<DeviceRgbKernel>({.memory = memory_.base(),
                                           .samples = memory_.base(),
                                           .out = tensors_.out(),
                                           .images = images_.data(),
                                           .image_count = static_cast<int>(images_.size()),
                                           .color = tensors_.color()},
                                          blocks_, what);
  }

  int rows_of_first() const { return images_.front().rows; }

 private:
  Noise noise_;
  const FencedBytes::Fence fence_;
  const int slots_;
  LaunchedTensors tensors_;
  FencedSpace memory_{std::size_t{1} << 30};
  std::vector<DeviceRgbImage> images_;
  Resampler resampler_;
  int blocks_ = 0;
};

TEST(DeviceRgb, MakesTheTensorsOfTheCpuAtAwkwardSizesOfManyImagesInOneLaunch) {
  std::uint32_t seed = 0;
  int added = 0;
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {300, 1}, {7, 8}, {16, 17}, {65, 33}, {257, 5}}) {
    for (int i = 0; i < 8; ++i, ++seed) {
      Launch launch(width, height, 22, seed);
      int number = 0;
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
        AxisMap x = resized(w, width), y = resized(h, height);
        x.flip = number % 2 == 1;
        y.flip = number % 3 == 2;
        const Filter filter = kFilters[(seed + static_cast<std::uint32_t>(number++)) % 4];
        for (const PassOrder order : kOrders) added += launch.add(x, y, filter, order);
      }
      launch.expect_agreement(fmt::format("seed {}", seed));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GT(added, 1000);
}

TEST(DeviceRgb, MakesTheTensorsOfTheCpuForCropsWindowsFlipsAndPadding) {
  for (std::uint32_t seed = 0; seed < rounds(150U); ++seed) {
    Noise noise(seed);
    const int width = noise.between(1, 60), height = noise.between(1, 40);
    Launch launch(width, height, 4, seed);
    for (int i = 0; i < 4; ++i) {
      const auto axis = [&](int size, int length) {
        AxisMap map = AxisMap::identity(size);
        map.clamp_begin = noise.between(0, size - 1);
        map.clamp_end = noise.between(map.clamp_begin + 1, size);
        const int cropped = map.clamp_end - map.clamp_begin;
        map.resampled = noise.between(0, 3) != 0;
        map.box_begin = map.resampled && noise.between(0, 1) ? cropped * noise.between(0, 7) / 16.0 : 0.0;
        map.box_length = map.resampled ? (cropped - map.box_begin) * noise.between(8, 16) / 16.0 : cropped;
        map.target = map.resampled ? noise.between(1, 90) : cropped;
        map.window_begin = noise.between(-length, map.target + 2);
        map.length = length;
        map.dropped_before = std::max(0, noise.between(-map.target, map.target));
        map.dropped_after = std::max(0, noise.between(-map.target, map.target));
        map.source_mirrored = noise.between(0, 1);
        map.flip = noise.between(0, 1);
        return map;
      };
      const AxisMap x = axis(noise.between(1, 200), width), y = axis(noise.between(1, 80), height);
      ASSERT_TRUE(launch.add(x, y, kFilters[noise.between(0, 3)], kOrders[noise.between(0, 1)]));
    }
    launch.expect_agreement(fmt::format("seed {}", seed));
    if (testing::Test::HasFatalFailure()) return;
  }
}

// What a block's threads share bounds how many rows it makes, down to one, and then to none.
TEST(DeviceRgb, MakesFewerRowsAtATimeWhereTheyNeedMore) {
  std::uint32_t seed = 0;
  for (const auto& [height, rows] : {std::pair{16 * 15, 8}, {16 * 30, 4}, {16 * 60, 2}, {16 * 110, 1}}) {
    Launch launch(100, 16, 1, seed++);
    ASSERT_TRUE(launch.add(resized(300, 100), resized(height, 16), Filter::kBox, PassOrder::kHorizontalFirst));
    EXPECT_EQ(launch.rows_of_first(), rows) << height;
    launch.expect_agreement(fmt::format("{} rows", rows));
  }
  AxisTaps across, down;
  build_taps(resized(300, 100), Filter::kBox, across);
  build_taps(resized(16 * 150, 16), Filter::kBox, down);
  EXPECT_EQ(device_rows(across, down, PassOrder::kHorizontalFirst), 0);
}

TEST(DeviceRgb, MakesFewerRowsAtATimeWhereTheSourceIsWideAndTheVerticalPassFirst) {
  std::uint32_t seed = 0;
  for (const auto& [width, rows] : {std::pair{1700, 8}, {1710, 4}, {6000, 2}, {13000, 1}}) {
    Launch launch(100, 16, 1, seed++);
    ASSERT_TRUE(launch.add(resized(width, 100), resized(40, 16), Filter::kBox, PassOrder::kVerticalFirst));
    EXPECT_EQ(launch.rows_of_first(), rows) << width;
    launch.expect_agreement(fmt::format("{} rows", rows));
  }
  AxisTaps across, down;
  build_taps(resized(14'000, 100), Filter::kBox, across);
  build_taps(resized(40, 16), Filter::kBox, down);
  EXPECT_EQ(device_rows(across, down, PassOrder::kVerticalFirst), 0);
}

}  // namespace
}  // namespace stoker
