// The device's mixing kernel beside the CPU's: bit for bit.
#include "stoker/ops/kernels/device/device_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "stoker/base/fenced_bytes_testing.h"
#include "stoker/base/host_device_testing.h"
#include "stoker/ops/kernels/mix/mix_pictures.h"
#include "stoker/ops/kernels/mix/mix_testing.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

// Several groups, whose images lie in slots in any order, with one slot left alone.
void expect_agreement(ImageSize size, TensorFormat format, int group, std::uint32_t seed) {
  Noise noise(seed);
  const int groups = 1 + static_cast<int>(seed % 3), slots = groups * group + 1;
  std::vector<std::vector<std::uint8_t>> tensors = random_tensors(slots, size, format.dtype, noise);
  const std::size_t slot_bytes = tensors.front().size();
  const FencedBytes memory(slot_bytes * tensors.size(), FencedBytes::Fence::kAfter);
  std::vector<std::uint8_t> before;
  for (const auto& tensor : tensors) before.insert(before.end(), tensor.begin(), tensor.end());
  std::vector<DeviceMix> table;
  for (int g = 0; g < groups; ++g) {
    const std::vector<MixDraw> mixes = random_mixes(group, size, noise);
    std::vector<std::uint8_t*> each;
    for (int m = 0; m < group; ++m) {
      const int slot = (g * group + m + 1 + static_cast<int>(seed)) % slots;
      table.push_back({mixes[static_cast<std::size_t>(m)], slot});
      each.push_back(tensors[static_cast<std::size_t>(slot)].data());
    }
    mix_pictures(each, mixes, format, size);
  }
  std::vector<std::uint8_t> want;
  for (const auto& tensor : tensors) want.insert(want.end(), tensor.begin(), tensor.end());
  const int blocks = DeviceMixKernel::blocks_per_group(size.width, size.height);
  for (const std::uint32_t order : {0U, 1U, 2U}) {
    std::copy(before.begin(), before.end(), memory.data());
    run_grid<DeviceMixKernel>({.images = memory.data(),
                               .slot_bytes = slot_bytes,
                               .mixes = table.data(),
                               .group = group,
                               .dtype = format.dtype,
                               .interleaved = format.layout == Layout::kNhwc,
                               .width = size.width,
                               .height = size.height,
                               .blocks_per_group = blocks},
                              blocks * groups, order);
    ASSERT_EQ(std::memcmp(memory.data(), want.data(), want.size()), 0)
        << fmt::format("{} x {} {} {}, groups of {}, seed {}, order {}", size.width, size.height,
                       to_string(format.dtype), to_string(format.layout), group, seed, order);
  }
}

TEST(DeviceMix, MixesLikeTheCpuInEveryFormatAtAwkwardSizes) {
  std::uint32_t seed = 0;
  for (const ImageSize size : {ImageSize{1, 1}, {1, 255}, {257, 1}, {3, 5}, {32, 32}, {31, 33}, {1025, 1}, {19, 18}}) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kU8}) {
      for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
        for (const int group : {2, 2, 4}) {
          expect_agreement(size, {dtype, layout}, group, seed++);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace stoker
