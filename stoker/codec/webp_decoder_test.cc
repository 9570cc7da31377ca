#include "stoker/codec/webp_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <webp/decode.h>
#include <webp/encode.h>

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/random.h"
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

/// One frame of an animation: where it lies, how large it says it is, and the chunks of a still image.
std::vector<std::uint8_t> frame_chunk(const std::vector<std::uint8_t>& still, int x, int y, int width, int height) {
  std::vector<std::uint8_t> chunk = {'A', 'N', 'M', 'F', 0, 0, 0, 0};
  for (const int value : {x / 2, y / 2, width - 1, height - 1, 100}) {
    for (int i = 0; i < 3; ++i) chunk.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  }
  chunk.push_back(0);
  // An extended file begins with a header that frames have none of.
  const bool extended = still[15] == 'X';
  chunk.insert(chunk.end(), still.begin() + (extended ? 30 : 12), still.end());
  const std::size_t length = chunk.size() - 8;
  for (std::size_t i = 0; i < 4; ++i) chunk[4 + i] = static_cast<std::uint8_t>(length >> 8 * i);
  return chunk;
}

std::vector<std::uint8_t> animation(std::initializer_list<std::vector<std::uint8_t>> frames, std::uint8_t alpha = 0) {
  std::vector<std::uint8_t> chunks;
  for (const auto& frame : frames) chunks.insert(chunks.end(), frame.begin(), frame.end());
  return riff({extended_header(0x02 | alpha), {'A', 'N', 'I', 'M', 6, 0, 0, 0, 9, 9, 9, 9, 0, 0}, chunks});
}

TEST(WebpDecoder, GivesTheFirstFrameOfAnAnimationOnBlack) {
  WebpDecoder decoder;
  for (const bool lossless : {false, true}) {
    for (const int channels : {3, 4}) {
      const auto first = encode_webp(make_test_image(7, 5, channels), lossless);
      const auto second = encode_webp(make_test_image(20, 10, 3), lossless);
      const auto file =
          animation({frame_chunk(first, 4, 2, 7, 5), frame_chunk(second, 0, 0, 20, 10)}, channels == 4 ? 0x10 : 0);
      const ImageFacts facts = decoder.read_facts(file);
      EXPECT_EQ(facts.width, 20);
      EXPECT_EQ(facts.height, 10);
      EXPECT_EQ(facts.components, channels);
      const TestImage frame = decode_whole_webp(first);
      TestImage want{.width = 20, .height = 10, .channels = 3, .pixels = std::vector<std::uint8_t>(20 * 10 * 3)};
      for (int y = 0; y < 5; ++y) std::copy_n(&frame.pixels[y * 21], 21, &want.pixels[(y + 2) * 60 + 12]);
      decoder.decode_rgb(second, decoder.read_facts(second), {0, 0, 20, 10});  // leaves something in its memory
      for (const Rect& window : sweep_windows(20, 10)) {
        ASSERT_EQ(first_difference(decoder.decode_rgb(file, facts, window), want.view().crop(window)), "");
      }
    }
  }
}

TEST(WebpDecoder, RefusesAnimationsWhoseFirstFrameIsNotWithinThePicture) {
  WebpDecoder decoder;
  const auto still = encode_webp(make_test_image(7, 5, 3), true);
  for (const auto& frame :
       {frame_chunk(still, 14, 0, 7, 5), frame_chunk(still, 0, 6, 7, 5), frame_chunk(still, 0, 0, 8, 5),
        frame_chunk(still, 0, 0, 7, 4), frame_chunk(still, 0xffffff, 0xffffff, 7, 5)}) {
    EXPECT_THROW(decoder.read_facts(animation({frame})), Error);
  }
  const auto good = animation({frame_chunk(still, 2, 2, 7, 5)});
  const ImageFacts facts = decoder.read_facts(good);
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THROW(decoder.read_facts(first_bytes_of(good, size)), Error) << size;
  }
  Random random(1, 0, 0, 0);
  for (int i = 0; i < rounds(300); ++i) {  // what comes of it is not said; sanitizers look on
    auto damaged = good;
    for (int k = 0; k < 3; ++k) damaged[random.below(damaged.size())] = static_cast<std::uint8_t>(random.below(256));
    try {
      const ImageFacts found = decoder.read_facts(damaged);
      if (std::int64_t{found.width} * found.height < 1 << 20)
        decoder.decode_rgb(damaged, found, {0, 0, found.width, found.height});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    }
  }
  EXPECT_EQ(decoder.read_facts(good).width, facts.width);
}

TEST(WebpDecoder, RefusesAnimationsWithoutAFrame) {
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
