#include "stoker/codec/webp_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <webp/decode.h>
#include <webp/encode.h>

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/damage_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

std::vector<std::uint8_t> encode_webp(const TestImage& image, bool lossless) {
  const int stride = image.width * image.channels;
  std::uint8_t* bytes = nullptr;
  const std::uint8_t* pixels = image.pixels.data();
  std::size_t size = 0;
  if (image.channels == 4) {
    size = lossless ? WebPEncodeLosslessRGBA(pixels, image.width, image.height, stride, &bytes)
                    : WebPEncodeRGBA(pixels, image.width, image.height, stride, 80, &bytes);
  } else {
    size = lossless ? WebPEncodeLosslessRGB(pixels, image.width, image.height, stride, &bytes)
                    : WebPEncodeRGB(pixels, image.width, image.height, stride, 80, &bytes);
  }
  std::vector<std::uint8_t> encoded(bytes, bytes + size);
  WebPFree(bytes);
  return encoded;
}

// The whole image by libwebp's simplest function.
TestImage decode_whole_webp(const std::vector<std::uint8_t>& encoded) {
  TestImage image;
  std::uint8_t* pixels = WebPDecodeRGB(encoded.data(), encoded.size(), &image.width, &image.height);
  image.pixels.assign(pixels, pixels + std::ptrdiff_t{3} * image.width * image.height);
  WebPFree(pixels);
  return image;
}

std::vector<std::uint8_t> riff(std::initializer_list<std::vector<std::uint8_t>> chunks) {
  std::vector<std::uint8_t> file = {'R', 'I', 'F', 'F', 0, 0, 0, 0, 'W', 'E', 'B', 'P'};
  for (const auto& chunk : chunks) file.insert(file.end(), chunk.begin(), chunk.end());
  for (int i = 0; i < 4; ++i)
    file[4 + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>((file.size() - 8) >> 8 * i);
  return file;
}

// The header of an extended file of 20 x 10 pixels.
std::vector<std::uint8_t> extended_header(std::uint8_t flags) {
  return {'V', 'P', '8', 'X', 10, 0, 0, 0, flags, 0, 0, 0, 19, 0, 0, 9, 0, 0};
}

TEST(WebpDecoder, EveryWindowEqualsLibwebpsWholeImage) {
  WebpDecoder decoder;
  for (const int channels : {3, 4}) {
    for (const bool lossless : {false, true}) {
      for (const auto& [width, height] : {std::pair{1, 1}, {1, 13}, {13, 1}, {37, 23}}) {
        const auto encoded = encode_webp(make_test_image(width, height, channels), lossless);
        const TestImage want = decode_whole_webp(encoded);
        const ImageFacts facts = decoder.read_facts(encoded);
        EXPECT_EQ(facts.codec, Codec::kWebp);
        EXPECT_EQ(facts.components, channels);
        for (const Rect& window : sweep_windows(width, height)) {
          ASSERT_EQ(first_difference(decoder.decode_rgb(encoded, facts, window), want.view().crop(window)), "");
        }
      }
    }
  }
}

TEST(WebpDecoder, LosslessPixelsComeBackAsTheyWere) {
  const TestImage image = make_test_image(20, 10, 3);
  WebpDecoder decoder;
  EXPECT_EQ(try_decode(decoder, encode_webp(image, true))->pixels, image.pixels);
}

TEST(WebpDecoder, ReadsTheOrientationOfItsExifChunk) {
  const auto still = encode_webp(make_test_image(20, 10, 3), true);
  const std::vector<std::uint8_t> pixels(still.begin() + 12, still.end());
  const std::vector<std::uint8_t> exif = {'E', 'X', 'I', 'F',  22, 0, 0, 0, 'I', 'I', 42, 0, 8, 0, 0,
                                          0,   1,   0,   0x12, 1,  3, 0, 1, 0,   0,   0,  5, 0, 0, 0};
  const auto file = riff({extended_header(0x08), pixels, exif});
  WebpDecoder decoder;
  EXPECT_EQ(decoder.read_facts(file).orientation, 5);
  EXPECT_EQ(try_decode(decoder, file)->pixels, try_decode(decoder, still)->pixels);
  EXPECT_EQ(decoder.read_facts(still).orientation, 1);
}

TEST(WebpDecoder, RefusesAnimationsByName) {
  const auto still = encode_webp(make_test_image(20, 10, 3), true);
  const auto file = riff({extended_header(0x02),
                          {'A', 'N', 'I', 'M', 6, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                          std::vector<std::uint8_t>(still.begin() + 12, still.end())});
  WebpDecoder decoder;
  try {
    decoder.read_facts(file);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    EXPECT_THAT(error.message(), HasSubstr("animation"));
  }
}

TEST(WebpDecoder, EveryTruncationIsBad) {
  WebpDecoder decoder;
  for (const bool lossless : {false, true}) {
    const auto encoded = encode_webp(make_test_image(31, 22, 4), lossless);
    for (std::size_t size = 0; size < encoded.size(); ++size) {
      ASSERT_THROW(decoder.read_facts(first_bytes_of(encoded, size)), Error) << size;
    }
  }
}

TEST(WebpDecoder, RandomDamageIsBadForEveryWindowOrForNone) {
  AnyImageDecoder decoder(kTestLimits), other(kTestLimits);
  std::vector<std::vector<std::uint8_t>> files;
  for (const int channels : {3, 4}) {
    for (const bool lossless : {false, true}) files.push_back(encode_webp(make_test_image(25, 18, channels), lossless));
  }
  int bad = 0;
  for (unsigned seed = 0; seed < rounds(2000u); ++seed) {
    std::mt19937 random(seed);
    const auto broken = damaged(files[seed % files.size()], 12, random);
    const auto whole = try_decode(decoder, broken), again = try_decode(other, broken);
    const auto corner = try_decode(other, broken, {0, 0, 1, 1});
    ASSERT_EQ(whole.has_value(), again.has_value()) << seed;
    ASSERT_EQ(whole.has_value(), corner.has_value()) << seed;
    if (whole) {
      ASSERT_EQ(whole->pixels, again->pixels) << seed;
    }
    bad += !whole;
  }
  EXPECT_GT(bad, 100);
}

TEST(WebpDecoder, ADecoderWorksAgainAfterAnError) {
  const auto encoded = encode_webp(make_test_image(31, 22, 3), false);
  WebpDecoder decoder;
  EXPECT_FALSE(try_decode(decoder, first_bytes_of(encoded, encoded.size() / 2)));
  EXPECT_EQ(try_decode(decoder, encoded)->pixels, decode_whole_webp(encoded).pixels);
}

}  // namespace
}  // namespace stoker
