#include "stoker/codec/mask_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/codec/npy.h"
#include "stoker/codec/png_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

constexpr int kWidth = 13, kHeight = 7;
constexpr int kGrey = 0, kColors = 2, kGreyAlpha = 4;

EncodedPng png(const TestPng& options) { return make_test_png(options, kWidth, kHeight); }

std::uint8_t at(const TestImage& image, int x, int y, int channel) {
  return image.pixels[static_cast<std::size_t>((y * kWidth + x) * 3 + channel)];
}

TEST(MaskDecoder, ReadsGreysAsTheyAreStored) {
  MaskDecoder decoder;
  for (const int bits : {1, 2, 4, 8}) {
    for (const bool interlaced : {false, true}) {
      const EncodedPng encoded = png({.name = "", .color_type = kGrey, .bit_depth = bits, .interlaced = interlaced});
      const MaskPixels mask = decoder.decode(encoded.bytes, MaskCodes::kIndex);
      ASSERT_EQ(mask.width, kWidth);
      ASSERT_EQ(mask.height, kHeight);
      ASSERT_EQ(mask.bytes, 1);
      const int step = 255 / ((1 << bits) - 1);  // by which a shade of so many bits is shown
      for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kWidth; ++x) {
          EXPECT_EQ(mask.row<std::uint8_t>(y)[x] * step, at(encoded.rgb, x, y, 0)) << bits << " bits";
        }
      }
    }
  }
}

TEST(MaskDecoder, ReadsSixteenBits) {
  MaskDecoder decoder;
  const EncodedPng encoded = png({.name = "", .color_type = kGrey, .bit_depth = 16});
  const MaskPixels mask = decoder.decode(encoded.bytes, MaskCodes::kIndex);
  ASSERT_EQ(mask.bytes, 2);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) EXPECT_EQ(mask.row<std::uint16_t>(y)[x] >> 8, at(encoded.rgb, x, y, 0));
  }
}

TEST(MaskDecoder, AddsUpColors) {
  MaskDecoder decoder;
  const EncodedPng encoded = png({.name = "", .color_type = kColors});
  const MaskPixels mask = decoder.decode(encoded.bytes, MaskCodes::kRgb);
  ASSERT_EQ(mask.bytes, 4);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      EXPECT_EQ(mask.row<std::uint32_t>(y)[x],
                at(encoded.rgb, x, y, 0) + 256u * at(encoded.rgb, x, y, 1) + 65'536u * at(encoded.rgb, x, y, 2));
    }
  }
}

TEST(MaskDecoder, SaysWhatItTakesOfMemory) {
  const EncodedPng encoded = png({.name = "", .color_type = kGrey});
  EXPECT_GE(MaskDecoder().memory(encoded.bytes), static_cast<std::uint64_t>(kWidth * kHeight));
  EXPECT_EQ(error_of([&] { MaskDecoder(DecodeLimits::up_to(kWidth * kHeight - 1)).memory(encoded.bytes); }).kind(),
            ErrorKind::kLimit);
  EXPECT_EQ(error_of([&] {
              MaskDecoder(DecodeLimits::up_to(kWidth * kHeight - 1)).decode(encoded.bytes, MaskCodes::kIndex);
            }).kind(),
            ErrorKind::kLimit);
}

TEST(MaskDecoder, RefusesWhatHoldsNoNumbers) {
  MaskDecoder decoder;
  const auto refusal = [&](Bytes bytes, MaskCodes codes) {
    const Error error = error_of([&] { decoder.decode(bytes, codes); });
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    return error.message();
  };
  for (const int type : {kColors, kGreyAlpha}) {
    EXPECT_THAT(refusal(png({.name = "", .color_type = type}).bytes, MaskCodes::kIndex), HasSubstr("has colours"));
  }
  EXPECT_THAT(refusal({}, MaskCodes::kIndex), HasSubstr("not a mask"));
  std::vector<std::uint8_t> array;
  const std::vector<std::uint8_t> pixels(12, 3);
  encode_npy(interleaved_view(pixels.data(), 2, 2, 3), array);
  EXPECT_THAT(refusal(array, MaskCodes::kIndex), HasSubstr("height x width"));
}

// Each prefix, and each bit of the file flipped: named, or numbers of all pixels.
TEST(MaskDecoder, NamesEveryDamage) {
  const EncodedPng encoded = png({.name = "", .color_type = kGrey, .bit_depth = 4});
  MaskDecoder decoder;
  for (std::size_t length = 0; length < encoded.bytes.size(); ++length) {
    EXPECT_EQ(error_of([&] { decoder.decode(Bytes(encoded.bytes).first(length), MaskCodes::kIndex); }).kind(),
              ErrorKind::kBadSample)
        << length;
  }
  for (std::size_t bit = 0; bit < 8 * encoded.bytes.size(); ++bit) {
    std::vector<std::uint8_t> damaged = encoded.bytes;
    damaged[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    try {
      const MaskPixels mask = decoder.decode(damaged, MaskCodes::kIndex);
      EXPECT_EQ(mask.width * mask.height, kWidth * kHeight);
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::kBadSample || error.kind() == ErrorKind::kLimit) << error.message();
    }
  }
}

}  // namespace
}  // namespace stoker
