#include "stoker/codec/mask_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/codec/npy.h"
#include "stoker/codec/png_testing.h"
#include "stoker/codec/tiff/tiff_testing.h"
#include "stoker/tensor/npy_testing.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;
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
          EXPECT_EQ(mask.at(x, y) * step, at(encoded.rgb, x, y, 0)) << bits << " bits";
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
    for (int x = 0; x < kWidth; ++x) EXPECT_EQ(mask.at(x, y) >> 8, at(encoded.rgb, x, y, 0));
  }
}

TEST(MaskDecoder, AddsUpColors) {
  MaskDecoder decoder;
  const EncodedPng encoded = png({.name = "", .color_type = kColors});
  const MaskPixels mask = decoder.decode(encoded.bytes, MaskCodes::kRgb);
  ASSERT_EQ(mask.bytes, 4);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      EXPECT_EQ(mask.at(x, y),
                at(encoded.rgb, x, y, 0) + 256 * at(encoded.rgb, x, y, 1) + 65'536 * at(encoded.rgb, x, y, 2));
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

std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

std::vector<std::int64_t> numbers_of(const MaskPixels& mask) {
  std::vector<std::int64_t> numbers;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) numbers.push_back(mask.at(x, y));
  }
  return numbers;
}

TEST(MaskDecoder, ReadsEveryGreyTiffAsItIsShown) {
  constexpr int kWhiteIsZero = 0, kBlackIsZero = 1, kTiffJpeg = 7;
  MaskDecoder decoder;
  int read = 0;
  for (const TestTiff& kind : kinds_of_tiff()) {
    const EncodedTiff encoded = make_test_tiff(kind);
    const bool grey = kind.photometric == kWhiteIsZero || kind.photometric == kBlackIsZero;
    if (!grey || kind.samples != 1 || kind.compression == kTiffJpeg) continue;
    const MaskPixels mask = decoder.decode(encoded.bytes, MaskCodes::kIndex);
    const TestImage& rgb = encoded.rgb;
    ASSERT_EQ(mask.width, rgb.width) << kind.name;
    ASSERT_EQ(mask.height, rgb.height) << kind.name;
    const int step = kind.bits < 8 ? 255 / ((1 << kind.bits) - 1) : 1;
    for (int y = 0; y < mask.height; ++y) {
      for (int x = 0; x < mask.width; ++x) {
        const std::int64_t number = mask.at(x, y);
        const std::int64_t shown = kind.bits == 16 ? number >> 8 : number * step;
        ASSERT_EQ(shown, rgb.pixels[static_cast<std::size_t>(y * rgb.width + x) * 3]) << kind.name;
      }
    }
    ++read;
  }
  EXPECT_GT(read, 5);
}

TEST(MaskDecoder, ReadsTheIndicesOfAGif) {
  const std::vector<std::uint8_t> indices = {0, 1, 2, 3, 2, 1};
  const std::vector<std::uint8_t> gif =
      make_gif({.width = 3, .height = 2, .palette = {9, 9, 9, 7, 7, 7, 8, 8, 8, 9, 9, 9}, .indices = indices});
  EXPECT_EQ(numbers_of(MaskDecoder().decode(gif, MaskCodes::kIndex)),
            std::vector<std::int64_t>(indices.begin(), indices.end()));
  EXPECT_EQ(numbers_of(MaskDecoder().decode(gif, MaskCodes::kRgb)).front(), 9 + 256 * 9 + 65'536 * 9);
}

TEST(MaskDecoder, ReadsNumbersOfPnmWhateverTheLargestIs) {
  const std::vector<std::int64_t> expected = {0, 1, 20, 3, 4, 20};
  MaskDecoder decoder;
  EXPECT_EQ(numbers_of(decoder.decode(bytes_of("P2 3 2 20 0 1 20 3 4 20"), MaskCodes::kIndex)), expected);
  EXPECT_EQ(numbers_of(decoder.decode(bytes_of("P5 3 2 20\n\0\1\x14\3\4\x14"sv), MaskCodes::kIndex)), expected);
  EXPECT_EQ(numbers_of(decoder.decode(bytes_of("P5 2 1 300\n\1\x2b\0\7"sv), MaskCodes::kIndex)),
            std::vector<std::int64_t>({299, 7}));
  EXPECT_EQ(numbers_of(decoder.decode(bytes_of("P1 3 1 101"), MaskCodes::kIndex)),
            std::vector<std::int64_t>({1, 0, 1}));
  EXPECT_EQ(numbers_of(decoder.decode(bytes_of("P4 3 1 \xa0"), MaskCodes::kIndex)),
            std::vector<std::int64_t>({1, 0, 1}));
}

TEST(MaskDecoder, ReadsTheIndicesOfABmp) {
  // 3 x 2, the last row first; a palette of two colours, of which the file uses more.
  constexpr std::string_view kBmp =
      "BM\0\0\0\0\0\0\0\0\x3e\0\0\0"
      "\x28\0\0\0\3\0\0\0\2\0\0\0\1\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
      "\1\1\1\0\2\2\2\0"
      "\4\5\6\0\1\2\3\0"sv;
  EXPECT_EQ(numbers_of(MaskDecoder().decode(bytes_of(kBmp), MaskCodes::kIndex)),
            std::vector<std::int64_t>({1, 2, 3, 4, 5, 6}));
}

TEST(MaskDecoder, ReadsArraysOfWholeNumbersOfAnyType) {
  MaskDecoder decoder;
  const auto numbers = [&](std::string_view type, std::string_view data, bool is_column_major = false) {
    const NpyOfTest array{.type = type, .is_column_major = is_column_major};
    return numbers_of(decoder.decode(npy_file(array, as_bytes(data)), MaskCodes::kIndex));
  };
  const std::vector<std::int64_t> expected = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(numbers("|u1", "\1\2\3\4\5\6"sv), expected);
  EXPECT_EQ(numbers("|u1", "\1\4\2\5\3\6"sv, true), expected);
  EXPECT_EQ(numbers("<u2", "\1\0\2\0\3\0\4\0\5\0\6\0"sv), expected);
  EXPECT_EQ(numbers(">i2", "\0\1\0\2\0\3\0\4\0\5\0\6"sv), expected);
  EXPECT_EQ(numbers("|b1", "\1\0\1\0\1\1"sv), std::vector<std::int64_t>({1, 0, 1, 0, 1, 1}));
  EXPECT_EQ(numbers("|i1", "\1\xff\3\4\5\x80"sv), std::vector<std::int64_t>({1, -1, 3, 4, 5, -128}));
  EXPECT_EQ(numbers("<i4", "\1\0\0\0\0\0\0\1\xff\xff\xff\xff\4\0\0\0\5\0\0\0\6\0\0\0"sv),
            std::vector<std::int64_t>({1, 1 << 24, -1, 4, 5, 6}));
  const std::string most(48, '\xff');
  EXPECT_THAT(error_of([&] { numbers("<u8", most); }).message(), HasSubstr("above 2^63"));
  EXPECT_EQ(numbers("<i8", most), std::vector<std::int64_t>(6, -1));
  EXPECT_THAT(error_of([&] { numbers("<f4", most.substr(0, 24)); }).message(), HasSubstr("whole numbers"));
  EXPECT_THAT(error_of([&] { numbers("<u2", "\1"sv); }).message(), HasSubstr("not a mask"));
}

TEST(MaskDecoder, RefusesCodecsThatMayChangeNumbers) {
  for (const auto& image : {noisy_jpeg(9, 9, 1), noisy_webp(9, 9, 1)}) {
    for (const MaskCodes codes : {MaskCodes::kIndex, MaskCodes::kRgb}) {
      EXPECT_THAT(error_of([&] { MaskDecoder().decode(image, codes); }).message(), HasSubstr("not a mask"));
    }
  }
  const EncodedTiff jpeg =
      make_test_tiff({.name = "", .photometric = 1, .samples = 1, .compression = 7, .rows_per_strip = 8});
  EXPECT_THAT(error_of([&] { MaskDecoder().decode(jpeg.bytes, MaskCodes::kIndex); }).message(), HasSubstr("JPEG"));
  for (const auto& colors : {noisy_bmp(9, 9, 1), noisy_tiff(9, 9, 1), bytes_of("P3 1 1 9 1 2 3")}) {
    EXPECT_THAT(error_of([&] { MaskDecoder().decode(colors, MaskCodes::kIndex); }).message(), HasSubstr("has colours"));
  }
}

// Each prefix, and each bit of the file flipped: named, or numbers of all pixels.
TEST(MaskDecoder, NamesEveryDamage) {
  const std::vector<std::uint8_t> files[] = {
      png({.name = "", .color_type = kGrey, .bit_depth = 4}).bytes,
      noisy_gif(9, 5, 1),
      make_test_tiff({.name = "", .width = 9, .height = 5, .photometric = 1, .samples = 1, .compression = 5}).bytes,
      npy_file({.type = "<i2", .is_column_major = true}, uneven_bytes(12, 1)),
  };
  MaskDecoder decoder;
  const auto try_numbers = [&](Bytes file) -> std::optional<std::vector<std::int64_t>> {
    try {
      return numbers_of(decoder.decode(file, MaskCodes::kIndex));
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::kBadSample || error.kind() == ErrorKind::kLimit) << error.message();
      return std::nullopt;
    }
  };
  for (const auto& file : files) {
    const auto whole = try_numbers(file);
    ASSERT_TRUE(whole);
    std::size_t bad = 0;
    for (std::size_t length = 0; length < file.size(); ++length) {
      const auto cut = try_numbers(Bytes(file).first(length));
      EXPECT_TRUE(!cut || cut == whole) << "of " << file.size() << " bytes, " << length;
      bad += !cut;
    }
    EXPECT_GE(bad + 4, file.size()) << "only a trailer may be missing, or that no other directory follows";
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
      std::vector<std::uint8_t> damaged = file;
      damaged[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      try_numbers(damaged);
    }
  }
}

}  // namespace
}  // namespace stoker
