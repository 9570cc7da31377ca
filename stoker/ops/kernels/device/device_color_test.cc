// The device's colour kernel beside the CPU's: bit for bit.
#include "stoker/ops/kernels/device/device_color.h"

#include <fmt/format.h>

#include "stoker/ops/kernels/device/device_kernel_testing.h"
#include "stoker/ops/kernels/planar/planar_resample.h"
#include "stoker/ops/kernels/resample/convert.h"
#include "stoker/tensor/image.h"

namespace stoker {
namespace {

// Images of both kinds in one launch, in slots that are not in their order, with one left free.
void expect_agreement(int width, int height, int count, std::uint32_t seed) {
  using enum FencedBytes::Fence;
  const FencedBytes::Fence fence = seed % 2 ? kAfter : kBefore;
  Noise noise(seed);
  LaunchedTensors tensors(test_color(seed / 8), test_format(seed), width, height, count + 1, fence);
  FencedSpace memory(std::size_t{1} << 28);
  std::vector<DeviceResized> images;
  const std::size_t bytes = 3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  for (int i = 0; i < count; ++i) {
    DeviceResized& image = images.emplace_back();
    image.samples = memory.take(bytes, fence);
    image.slot = (i + 1 + static_cast<int>(seed)) % (count + 1);
    image.kind = noise.between(0, 1) ? DeviceResized::Kind::kRgb : DeviceResized::Kind::kYcc;
    std::uint8_t* const samples = memory.base() + image.samples;
    std::generate(samples, samples + bytes, [&] { return noise.byte(); });
    if (image.kind == DeviceResized::Kind::kRgb) {
      convert_pixels(interleaved_view(samples, width, height, 3), tensors.map(), tensors.format(),
                     tensors.want(image.slot));
    } else {
      const ImageView planes{samples, width, height, 3, width, 1, std::ptrdiff_t{width} * height};
      convert_planes(planes, tensors.map(), tensors.format(), tensors.want(image.slot));
    }
  }
  const int blocks = DeviceColorKernel::blocks_per_image(tensors.color());
  tensors.expect_from<DeviceColorKernel>({.memory = memory.base(),
                                          .out = tensors.out(),
                                          .images = images.data(),
                                          .color = tensors.color(),
                                          .blocks_per_image = blocks},
                                         blocks * count, fmt::format("seed {}", seed));
}

TEST(DeviceColor, MakesTheTensorsOfTheCpuInEveryFormatAtAwkwardSizes) {
  std::uint32_t seed = 0;
  for (const auto& [width, height] : {std::pair{1, 1},
                                      {1, 255},
                                      {257, 1},
                                      {3, 5},
                                      {16, 16},
                                      {31, 33},
                                      {32, 32},
                                      {1025, 1},
                                      {64, 16},
                                      {1, 1023},
                                      {33, 31},
                                      {100, 50}}) {
    for (int i = 0; i < 32; ++i) {
      expect_agreement(width, height, 1 + i % 4, seed++);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace stoker
