#include "stoker/ops/kernels/resample/convert.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "stoker/base/error.h"
#include "stoker/ops/kernels/resample/kernel_testing.h"
#include "stoker/tensor/rounding.h"

namespace stoker {
namespace {

constexpr DType kDTypes[] = {DType::kU8, DType::kF16, DType::kBF16, DType::kF32};
constexpr Layout kLayouts[] = {Layout::kNchw, Layout::kNhwc};

// The definition, one element at a time.
void convert_plainly(ImageView pixels, const ColorMap& color, TensorFormat format, std::uint8_t* out) {
  for (int y = 0; y < pixels.height; ++y) {
    for (int x = 0; x < pixels.width; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        const volatile float product = static_cast<float>(*pixels.at(x, y, color.from[c])) * color.scale[c];
        const float value = product + color.bias[c];
        const auto plane = static_cast<std::size_t>(pixels.width) * static_cast<std::size_t>(pixels.height);
        const std::size_t pixel =
            static_cast<std::size_t>(y) * static_cast<std::size_t>(pixels.width) + static_cast<std::size_t>(x);
        const std::size_t at = format.layout == Layout::kNchw ? c * plane + pixel : pixel * 3 + c;
        if (format.dtype == DType::kF32) std::memcpy(out + at * 4, &value, 4);
        const std::uint16_t half = format.dtype == DType::kF16 ? f16_from_f32(value) : bf16_from_f32(value);
        if (size_of(format.dtype) == 2) std::memcpy(out + at * 2, &half, 2);
        if (format.dtype == DType::kU8) out[at] = u8_from_f32(value);
      }
    }
  }
}

void expect_as_defined(ImageView pixels, const ColorMap& color, TensorFormat format, FencedBytes::Fence fence) {
  const std::size_t size =
      static_cast<std::size_t>(pixels.width) * static_cast<std::size_t>(pixels.height) * 3 * size_of(format.dtype);
  std::vector<std::uint8_t> expected(size);
  convert_plainly(pixels, color, format, expected.data());
  FencedBytes out(size, fence);
  convert_pixels(pixels, color, format, out.data());
  for (std::size_t i = 0; i < size; ++i) {
    ASSERT_EQ(out.data()[i], expected[i]) << to_string(format.dtype) << " " << to_string(format.layout) << " "
                                          << pixels.width << "x" << pixels.height << " byte " << i;
  }
}

ColorMap imagenet() {
  ColorMap color;
  color.scale = {1 / (255 * 0.229f), 1 / (255 * 0.224f), 1 / (255 * 0.225f)};
  color.bias = {-0.485f / 0.229f, -0.456f / 0.224f, -0.406f / 0.225f};
  return color;
}

class ConvertPixelsOn : public EachIsa {};
INSTANTIATE_TEST_SUITE_P(Isa, ConvertPixelsOn, testing::ValuesIn(kIsaNames), isa_name);

TEST_P(ConvertPixelsOn, AgreesWithTheDefinitionOnEveryStrideTypeLayoutAndWidth) {
  std::uint32_t seed = 0;
  for (const int width : {1,  2,  3,  4,  5,  7,  8,  9,  11,  12,  13,  15,  16,  17,  23,  24, 31,
                          32, 33, 47, 48, 49, 63, 64, 65, 100, 255, 256, 257, 511, 512, 513, 700}) {
    for (const Strides strides : kAllStrides) {
      const FencedBytes::Fence fence = seed % 2 ? FencedBytes::Fence::kAfter : FencedBytes::Fence::kBefore;
      const FencedImage image(width, 1 + static_cast<int>(seed % 3), 3, strides, fence, seed);
      ++seed;
      ColorMap swapped = imagenet();
      swapped.from = {2, 1, 0};
      ColorMap only_swapped;
      only_swapped.from = {2, 0, 1};
      for (const ColorMap& color : {imagenet(), swapped, only_swapped, ColorMap()}) {
        for (const DType dtype : kDTypes) {
          for (const Layout layout : kLayouts) expect_as_defined(image.view(), color, {dtype, layout}, fence);
        }
      }
    }
  }
}

// Every byte through maps that reach subnormals, ties, overflow, infinities and NaN.
TEST_P(ConvertPixelsOn, RoundsAsTheScalarCastsDo) {
  std::uint8_t ramp[256 * 3];
  for (int i = 0; i < 256 * 3; ++i) ramp[i] = static_cast<std::uint8_t>(i / 3);
  const ImageView pixels = interleaved_view<const std::uint8_t>(ramp, 256, 1, 3);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<std::pair<float, float>> maps = {
      {1.0f, 0.5f},       {0.5f, 0.0f},         {0.5f, -1.0f},
      {-1.0f, 127.5f},    {0x1p-24f, 0.0f},     {0x1p-25f, 0x1p-26f},
      {0x1.8p-25f, 0.0f}, {0x1p-14f, -0x1p-7f}, {257.0f, 0.0f},
      {256.9f, 4.0f},     {1e4f, -1e6f},        {1e36f, 0.0f},
      {3e38f, 0.0f},      {kInfinity, 1.0f},    {-kInfinity, 0.0f},
      {1.0f, kInfinity},  {0.0f, -0.0f},        {-0x1p-30f, 0.0f},
      {0x1p-149f, 0.0f},  {1e-40f, 1e-42f},     {std::bit_cast<float>(0x7FFFFFFFU), 1.0f},
      {0x1.004p0f, 0.0f}, {0x1.01p0f, 0x1p-9f}, {-3.0f, 900.0f},
      {1.0f, -0.5f},      {0x1.ffcp-15f, 0.0f}};
  Noise noise(5);
  for (int i = 0; i < 40; ++i) {
    maps.emplace_back(std::ldexp(static_cast<float>(noise.between(-9999, 9999)), noise.between(-40, 8)),
                      std::ldexp(static_cast<float>(noise.between(-9999, 9999)), noise.between(-40, 8)));
  }
  for (std::size_t i = 0; i < maps.size(); ++i) {
    ColorMap color;
    for (std::size_t c = 0; c < 3; ++c) std::tie(color.scale[c], color.bias[c]) = maps[(i + c) % maps.size()];
    for (const DType dtype : kDTypes) {
      for (const Layout layout : kLayouts)
        expect_as_defined(pixels, color, {dtype, layout}, FencedBytes::Fence::kAfter);
    }
  }
}

TEST_P(ConvertPixelsOn, RoundsTheProductBeforeItAdds) {
  ColorMap color = imagenet();
  int fused_differs = 0;
  for (int v = 0; v < 256; ++v) {
    const auto byte = static_cast<std::uint8_t>(v);
    const std::uint8_t pixel[3] = {byte, byte, byte};
    float out[3];
    convert_pixels(interleaved_view<const std::uint8_t>(pixel, 1, 1, 3), color, {},
                   reinterpret_cast<std::uint8_t*>(out));
    for (std::size_t c = 0; c < 3; ++c) {
      fused_differs += out[c] != std::fma(static_cast<float>(v), color.scale[c], color.bias[c]);
    }
  }
  EXPECT_GT(fused_differs, 0);
}

TEST(ConvertPixels, RefusesAnElementTypeThatImagesDoNotHave) {
  const std::uint8_t pixel[3] = {1, 2, 3};
  std::uint8_t out[24];
  EXPECT_THROW(
      convert_pixels(interleaved_view<const std::uint8_t>(pixel, 1, 1, 3), {}, {DType::kI64, Layout::kNchw}, out),
      Error);
}

}  // namespace
}  // namespace stoker
