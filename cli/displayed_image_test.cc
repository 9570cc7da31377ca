#include "cli/displayed_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "stoker/tensor/rounding.h"

namespace stoker {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr std::array<std::uint8_t, 6> kTwoPixels = {10, 20, 30, 200, 210, 255};  // red first

// What a colour stage would store of kTwoPixels, one above the other, by the definition in color_map.h.
SampleOutput stored(const ImageProgram& program) {
  SampleOutput output{{"image", program.format.dtype, image_shape(program.format.layout, 2, 1, 3)}, {}};
  output.bytes.resize(output.spec.bytes_per_sample());
  for (std::size_t pixel = 0; pixel < 2; ++pixel) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::uint8_t in = kTwoPixels[pixel * 3 + static_cast<std::size_t>(program.color.from[c])];
      const float value = static_cast<float>(in) * program.color.scale[c] + program.color.bias[c];
      const std::size_t number = program.format.layout == Layout::kNchw ? c * 2 + pixel : pixel * 3 + c;
      std::uint8_t* at = output.bytes.data() + number * size_of(program.format.dtype);
      const std::uint16_t f16 = f16_from_f32(value), bf16 = bf16_from_f32(value);
      switch (program.format.dtype) {
        case DType::kU8: *at = u8_from_f32(value); break;
        case DType::kF16: std::memcpy(at, &f16, 2); break;
        case DType::kBF16: std::memcpy(at, &bf16, 2); break;
        default: std::memcpy(at, &value, 4);
      }
    }
  }
  return output;
}

TEST(Displayed, UndoesNormalisationAndChannelOrderInEveryDtypeAndLayout) {
  for (const DType dtype : {DType::kU8, DType::kF16, DType::kBF16, DType::kF32}) {
    for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
      ImageProgram program;
      program.format = {dtype, layout};
      program.color.from = {2, 1, 0};
      if (dtype != DType::kU8) {
        program.color.scale = {1 / 32.0F, 1 / 64.0F, 1 / 128.0F};
        program.color.bias = {-1, 0, 0.5F};
      }
      const RgbImage image = displayed(stored(program), program);
      EXPECT_EQ(image.width, 1);
      EXPECT_EQ(image.height, 2);
      if (dtype == DType::kBF16) {  // 8 significant bits: not every pixel comes back exactly
        for (std::size_t i = 0; i < kTwoPixels.size(); ++i) EXPECT_NEAR(image.pixels[i], kTwoPixels[i], 1);
      } else {
        EXPECT_THAT(image.pixels, ElementsAreArray(kTwoPixels)) << to_string(dtype) << " " << to_string(layout);
      }
    }
  }
}

TEST(Displayed, ShowsHalvesTooSmallForANormalExponentAndNoNumbers) {
  ImageProgram program;
  program.format = {DType::kF16, Layout::kNhwc};
  program.color.scale = {0x1p-24F, 0x1p-24F, 1};
  SampleOutput output;
  output.spec = {"image", DType::kF16, {1, 1, 3}};
  output.bytes = {7, 0, 0, 1, 0, 0x7e};  // 7 and 256 times 2^-24, then NaN
  EXPECT_THAT(displayed(output, program).pixels, ElementsAre(7, 255, 0));
}

TEST(Fitted, EnlargesByAWholeFactor) {
  RgbImage image(2, 1);
  image.pixels = {1, 2, 3, 4, 5, 6};
  const RgbImage large = fitted(image, 5);
  EXPECT_EQ(large.width, 4);
  EXPECT_EQ(large.height, 2);
  const std::vector<std::uint8_t> row = {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6};
  EXPECT_EQ(std::vector(large.pixels.begin(), large.pixels.begin() + 12), row);
  EXPECT_EQ(std::vector(large.pixels.begin() + 12, large.pixels.end()), row);
}

TEST(Fitted, LeavesAloneWhatIsNeitherTooLargeNorHalfAsSmall) {
  const RgbImage image(100, 81);
  EXPECT_EQ(fitted(image, 160).width, 100);
  EXPECT_EQ(fitted(image, 100).height, 81);
}

TEST(Fitted, ShrinksKeepingTheShape) {
  RgbImage image(320, 200);
  std::fill(image.pixels.begin(), image.pixels.end(), std::uint8_t{77});
  const RgbImage small = fitted(image, 160);
  EXPECT_EQ(small.width, 160);
  EXPECT_EQ(small.height, 100);
  EXPECT_THAT(small.pixels, Each(77));
  const RgbImage sliver = fitted(RgbImage(1, 2000), 160);
  EXPECT_EQ(sliver.width, 1);
  EXPECT_EQ(sliver.height, 160);
}

TEST(RgbImage, CopiesViewsOfAnyStrides) {
  const std::vector<std::uint8_t> planes = {1, 4, 2, 5, 3, 6};  // two pixels, planar
  ImageView mirrored{planes.data() + 1, 2, 1, 3, 2, -1, 2};
  EXPECT_THAT(RgbImage(mirrored).pixels, ElementsAre(4, 5, 6, 1, 2, 3));
}

}  // namespace
}  // namespace stoker
