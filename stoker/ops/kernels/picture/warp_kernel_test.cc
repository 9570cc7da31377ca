// The kernels of warps against their meaning, where the tests of all operators on pictures do not reach: wide pictures,
// and matrices that no operator draws.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "stoker/base/fenced_bytes_testing.h"
#include "stoker/base/isa_testing.h"
#include "stoker/base/noise_testing.h"
#include "stoker/ops/kernels/picture/picture_runner.h"
#include "stoker/ops/picture/picture_meaning.h"
#include "stoker/ops/picture/warp.h"

namespace stoker {
namespace {

PictureStep warp_step(const std::vector<float>& matrix, WarpFilter filter) {
  PictureStep step = {};
  step.kind = PictureKind::kWarp;
  std::copy(matrix.begin(), matrix.end(), step.f);
  step.n[WarpStep::kFilter] = static_cast<std::int32_t>(filter);
  for (int c = 0; c < 3; ++c) step.n[WarpStep::kFill + c] = 250 - 100 * c;
  return step;
}

// Where the kernels run, memory begins or ends at a page that cannot be touched.
void expect_as_meant(const PictureStep& step, ImageSize size, FencedBytes::Fence fence) {
  const PictureBounds bounds{.scratch = kElasticScratch};
  const PictureLayout layout(bounds, size);
  const FencedBytes memory(layout.bytes, fence);
  const auto count = static_cast<std::size_t>(3 * size.width * size.height);
  Noise noise(static_cast<std::uint32_t>(size.width * 31 + size.height));
  for (std::size_t i = 0; i < count; ++i) memory.data()[i] = noise.byte();

  std::vector<std::uint8_t> want(count);
  const std::vector<std::uint8_t> in(memory.data(), memory.data() + count);
  const PicturePass pass{.steps = &step,
                         .count = 1,
                         .facts = nullptr,
                         .in = in.data(),
                         .out = want.data(),
                         .kept = nullptr,
                         .kept_stride = 0,
                         .work = nullptr,
                         .scratch = nullptr,
                         .width = size.width,
                         .height = size.height,
                         .in_width = size.width,
                         .in_height = size.height};
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) compute_pixel(pass, x, y);
  }
  const std::uint8_t* const got = PictureRunner().run({&step, 1}, size, layout, memory.data());
  ASSERT_TRUE(std::equal(want.begin(), want.end(), got)) << size.width << " x " << size.height;
}

class WarpKernelsOn : public EachIsa {};
INSTANTIATE_TEST_SUITE_P(Isas, WarpKernelsOn, testing::ValuesIn(kIsaNames), isa_name);

constexpr ImageSize kWideSizes[] = {{255, 2}, {256, 1}, {257, 3}, {272, 2}, {511, 1}, {513, 2}, {600, 5}, {3, 300}};
constexpr WarpFilter kFilters[] = {WarpFilter::kNearest, WarpFilter::kBilinear, WarpFilter::kBicubic};

TEST_P(WarpKernelsOn, AgreeOnWidePictures) {
  for (const ImageSize size : kWideSizes) {
    for (const WarpFilter filter : kFilters) {
      const auto width = static_cast<float>(size.width);
      for (const std::vector<float>& matrix :
           std::vector<std::vector<float>>{{1, 0, 0, 0, 1, 0, 0, 0, 1},
                                           {-1, 0, width - 1, 0, 1, 0, 0, 0, 1},
                                           {0.93f, 0.31f, 4.7f, -0.002f, 1.1f, 0.3f, 0, 0, 1},
                                           {0.7f, -3, 9.4f, 0.004f, 0.8f, -0.6f, 0.001f, -0.02f, 1},
                                           {-1.3f, 0.2f, width, -0.01f, 0.4f, 1.2f, -0.0021f, 0.1f, 0.7f}}) {
        expect_as_meant(warp_step(matrix, filter), size, FencedBytes::Fence::kAfter);
        expect_as_meant(warp_step(matrix, filter), size, FencedBytes::Fence::kBefore);
      }
      PictureStep elastic = warp_step({}, filter);
      elastic.kind = PictureKind::kElastic;
      elastic.key = 0x123456789ABCDEF;
      for (const float density : {0.577f, 0.115f, 0.0001f}) {
        elastic.f[WarpStep::kDensity] = density;
        elastic.f[WarpStep::kDensity + 1] = 0.577f;
        elastic.f[WarpStep::kGain] = 0.01f;
        elastic.f[WarpStep::kGain + 1] = 0.003f;
        expect_as_meant(elastic, size, FencedBytes::Fence::kAfter);
      }
    }
  }
}

TEST_P(WarpKernelsOn, AgreeOnPlacesThatAreNowhere) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr ImageSize kSize{37, 5};
  for (const WarpFilter filter : kFilters) {
    for (const std::vector<float>& matrix : std::vector<std::vector<float>>{
             {0, 0, 0, 0, 0, 0, 0, 0, 0},                   // 0 / 0
             {1, 0, 0, 0, 1, 0, 1, 0, 0},                   // 0 / 0 in the first column
             {1, 0, 3, 0, 1, 0, 1, 0, -7},                  // 1 / 0 in another
             {1e30f, 0, 0, 0, 1e30f, 0, 0, 0, 1},           // far away
             {1e38f, 1e38f, 1e38f, 1, 1, 1, 0, 0, 1},       // infinite
             {kInfinity, 0, 0, kNan, kNan, kNan, 0, 0, 1},  //
             {0, 0, 36.99999f, 0, 0, 4.99999f, 0, 0, 1},    // just within a pixel of the last one
             {0, 0, 37, 0, 0, 5, 0, 0, 1},                  // just not
             {0, 0, -0.99999f, 0, 0, -0.99999f, 0, 0, 1},   // the same, of the first one
             {0, 0, -1, 0, 0, -1, 0, 0, 1},                 //
             {1, 0, 0.5f, 0, 1, -0.5f, 0, 0, 1},            // between pixels
             {0x1p-20f, 0, 5, 0, 0x1p-20f, 2, 0, 0, 1}}) {  // less than 1 / 32768 from pixel to pixel
      expect_as_meant(warp_step(matrix, filter), kSize, FencedBytes::Fence::kAfter);
    }
  }
}

}  // namespace
}  // namespace stoker
