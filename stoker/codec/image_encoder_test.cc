#include "stoker/codec/image_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "stoker/base/error.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/jpeg/files_testing.h"

namespace stoker {
namespace {

std::vector<std::uint8_t> jpeg_of(const TestImage& image, const JpegEncodeOptions& options) {
  std::vector<std::uint8_t> encoded = {1, 2, 3};  // replaced
  encode_jpeg(image.view(), options, encoded);
  return encoded;
}

int count_markers(const std::vector<std::uint8_t>& encoded, std::uint8_t from, std::uint8_t to) {
  int count = 0;
  for (std::size_t i = 0; i + 1 < encoded.size(); ++i) {
    count += encoded[i] == 0xFF && encoded[i + 1] >= from && encoded[i + 1] <= to;
  }
  return count;
}

TEST(JpegEncoder, WritesWhatTheGeneralHelperWrites) {
  const TestImage image = make_test_image(70, 45, 3);
  const auto want = [&](TestJpeg kind) { return encode_test_jpeg(kind, image); };
  EXPECT_EQ(jpeg_of(image, {.quality = 85, .subsampling = ChromaSubsampling::k444}), want({.name = "444"}));
  EXPECT_EQ(jpeg_of(image, {.quality = 85, .subsampling = ChromaSubsampling::k422}),
            want({.name = "422", .horizontal = 2}));
  EXPECT_EQ(jpeg_of(image, {.quality = 85}), want({.name = "420", .horizontal = 2, .vertical = 2}));
  EXPECT_EQ(jpeg_of(image, {.quality = 85, .optimize = false}),
            want({.name = "std", .horizontal = 2, .vertical = 2, .optimize = false}));
  EXPECT_EQ(jpeg_of(image, {.quality = 85, .progressive = true}),
            want({.name = "prog", .horizontal = 2, .vertical = 2, .progressive = true}));
  EXPECT_EQ(jpeg_of(image, {.quality = 30}), want({.name = "30", .horizontal = 2, .vertical = 2, .quality = 30}));
}

TEST(JpegEncoder, PutsRestartMarkersBetweenRowsOfBlocks) {
  const TestImage image = make_test_image(70, 45, 3);  // three rows of 16 lines
  EXPECT_EQ(count_markers(jpeg_of(image, {}), 0xD0, 0xD7), 0);
  EXPECT_EQ(count_markers(jpeg_of(image, {.restart_rows = 1}), 0xD0, 0xD7), 2);
  EXPECT_EQ(count_markers(jpeg_of(image, {.restart_rows = 2}), 0xD0, 0xD7), 1);
}

TEST(JpegEncoder, HighQualityStaysCloseToTheImage) {
  const TestImage grey = make_test_image(33, 21, 1);
  AnyImageDecoder decoder;
  const auto got = try_decode(decoder, jpeg_of(grey, {.quality = 100}));
  ASSERT_TRUE(got);
  for (std::size_t i = 0; i < grey.pixels.size(); ++i) {
    ASSERT_LE(std::abs(got->pixels[3 * i] - grey.pixels[i]), 2);
    ASSERT_EQ(got->pixels[3 * i], got->pixels[3 * i + 2]);
  }
}

TEST(JpegEncoder, TakesViewsWithAnyRowStride) {
  const TestImage image = make_test_image(70, 45, 3);
  const ImageView part = image.view().crop({3, 5, 40, 30});
  const TestImage copy = copy_image(part);
  std::vector<std::uint8_t> encoded;
  encode_jpeg(part, {}, encoded);
  EXPECT_EQ(encoded, jpeg_of(copy, {}));
}

TEST(JpegEncoder, GrowsItsOutputForLargeImages) {
  const TestImage image = make_test_image(400, 300, 3);
  const auto encoded = jpeg_of(image, {.quality = 100, .subsampling = ChromaSubsampling::k444});
  EXPECT_GT(encoded.size(), 100'000u);
  EXPECT_EQ(encoded[encoded.size() - 1], 0xD9);
  EXPECT_TRUE(decode_whole_jpeg(encoded));
}

TEST(JpegEncoder, RefusesWhatIsNoImageForIt) {
  std::vector<std::uint8_t> encoded;
  const TestImage image = make_test_image(8, 8, 4);
  EXPECT_THROW(encode_jpeg(image.view(), {}, encoded), Error);
  EXPECT_THROW(encode_jpeg(image.view().plane(0), {}, encoded), Error);  // not interleaved
  EXPECT_THROW(encode_jpeg(interleaved_view(image.pixels.data(), 0, 8, 3), {}, encoded), Error);
  EXPECT_THROW(encode_jpeg(interleaved_view(image.pixels.data(), 65'501, 1, 3), {}, encoded), Error);
}

TEST(PngEncoder, KeepsEveryPixel) {
  AnyImageDecoder decoder;
  for (const int channels : {1, 3, 4}) {
    const TestImage image = make_test_image(33, 21, channels);
    std::vector<std::uint8_t> encoded = {1, 2, 3};
    encode_png(image.view(), encoded);
    EXPECT_EQ(decoder.read_facts(encoded).components, channels);
    const auto got = try_decode(decoder, encoded);
    ASSERT_TRUE(got);
    for (std::size_t i = 0; i < 33 * 21; ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        ASSERT_EQ(got->pixels[3 * i + c],
                  image.pixels[i * static_cast<std::size_t>(channels) + (channels == 1 ? 0 : c)]);
      }
    }
  }
}

TEST(PngEncoder, TakesViewsWithAnyRowStride) {
  const TestImage image = make_test_image(33, 21, 3);
  ImageView flipped = image.view().crop({2, 1, 20, 15});
  flipped.pixels = flipped.at(0, 14);
  flipped.row_stride = -flipped.row_stride;
  std::vector<std::uint8_t> encoded;
  encode_png(flipped, encoded);
  AnyImageDecoder decoder;
  EXPECT_EQ(first_difference(try_decode(decoder, encoded)->view(), flipped), "");
}

TEST(PngEncoder, RefusesWhatIsNoImageForIt) {
  std::vector<std::uint8_t> encoded;
  const TestImage image = make_test_image(8, 8, 2);
  EXPECT_THROW(encode_png(image.view(), encoded), Error);
  EXPECT_THROW(encode_png(interleaved_view(image.pixels.data(), 0, 8, 3), encoded), Error);
  EXPECT_THROW(encode_png(image.view().plane(0), encoded), Error);
}

}  // namespace
}  // namespace stoker
