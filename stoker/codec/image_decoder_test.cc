#include "stoker/codec/image_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <webp/encode.h>

#include <new>
#include <string>
#include <string_view>

#include "stoker/base/child_testing.h"
#include "stoker/base/error.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/codec/image_encoder.h"
#include "stoker/codec/tiff/tiff_testing.h"

namespace stoker {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using testing::HasSubstr;

std::vector<std::uint8_t> jpeg_of(const TestImage& image) {
  std::vector<std::uint8_t> encoded;
  encode_jpeg(image.view(), {}, encoded);
  return encoded;
}

std::vector<std::uint8_t> png_of(const TestImage& image) {
  std::vector<std::uint8_t> encoded;
  encode_png(image.view(), encoded);
  return encoded;
}

Error error_of(ImageDecoder& decoder, Bytes encoded) {
  try {
    decoder.read_facts(encoded);
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::kUsage, "no error");
}

TEST(AnyImageDecoder, TellsTheCodecByTheBytesAlone) {
  const TestImage image = make_test_image(20, 10, 3);
  AnyImageDecoder decoder;
  EXPECT_EQ(detect_codec(jpeg_of(image)), Codec::kJpeg);
  EXPECT_EQ(detect_codec(png_of(image)), Codec::kPng);
  EXPECT_EQ(detect_codec(as_bytes("RIFF\0\0\0\0WEBPVP8 "sv)), Codec::kWebp);
  EXPECT_EQ(detect_codec(as_bytes("RIFF\0\0\0\0WAVEfmt "sv)), Codec::kUnknown);
  EXPECT_EQ(detect_codec(as_bytes("GIF87a"sv)), Codec::kGif);
  EXPECT_EQ(detect_codec(as_bytes("GIF88a"sv)), Codec::kUnknown);
  EXPECT_EQ(detect_codec(noisy_tiff(3, 2, 1)), Codec::kTiff);
  EXPECT_EQ(detect_codec(as_bytes("MM\0+"sv)), Codec::kTiff);
  EXPECT_EQ(detect_codec(as_bytes("II*"sv)), Codec::kUnknown);
  EXPECT_EQ(detect_codec(as_bytes("\0\0\0\x1C"
                                  "ftypavif"sv)),
            Codec::kAvif);
  EXPECT_EQ(detect_codec(as_bytes("\xFF\x4F\xFF\x51"sv)), Codec::kJpeg2000);
  EXPECT_EQ(detect_codec(as_bytes("\0\0\0\x0CjP  \r\n\x87\n"sv)), Codec::kJpeg2000);
  EXPECT_EQ(detect_codec(noisy_bmp(3, 2, 1)), Codec::kBmp);
  EXPECT_EQ(detect_codec(as_bytes("BMW, Audi and others"sv)), Codec::kUnknown);
  EXPECT_EQ(detect_codec(noisy_pnm(3, 2, 1)), Codec::kPnm);
  EXPECT_EQ(detect_codec(as_bytes("P2\n# a comment\n1 1 255 7"sv)), Codec::kPnm);
  EXPECT_EQ(detect_codec(as_bytes("P2 is the name of a process"sv)), Codec::kUnknown);
  EXPECT_EQ(detect_codec(as_bytes("P7\nWIDTH 3"sv)), Codec::kUnknown);
  EXPECT_EQ(detect_codec(as_bytes("P60 3 255"sv)), Codec::kUnknown);
  EXPECT_EQ(detect_codec(as_bytes("\xFF\xD8")), Codec::kUnknown);
  EXPECT_EQ(detect_codec({}), Codec::kUnknown);
  EXPECT_EQ(decoder.read_facts(jpeg_of(image)).codec, Codec::kJpeg);
  EXPECT_EQ(decoder.read_facts(png_of(image)).codec, Codec::kPng);
}

TEST(AnyImageDecoder, AlternatesBetweenCodecs) {
  const TestImage image = make_test_image(20, 10, 3);
  const auto jpeg = jpeg_of(image), png = png_of(image);
  AnyImageDecoder decoder;
  const auto first = try_decode(decoder, jpeg);
  EXPECT_EQ(try_decode(decoder, png)->pixels, image.pixels);
  EXPECT_EQ(try_decode(decoder, jpeg)->pixels, first->pixels);
}

std::vector<std::uint8_t> webp_of(const TestImage& image) {
  std::uint8_t* encoded = nullptr;
  const std::size_t bytes =
      WebPEncodeRGB(image.pixels.data(), image.width, image.height, 3 * image.width, 50, &encoded);
  std::vector<std::uint8_t> copy(encoded, encoded + bytes);
  WebPFree(encoded);
  return copy;
}

// What the decoder keeps from the first image is enough for the second, but not what the libraries take for each.
TEST(AnyImageDecoder, DoesNotCallAnImageBadWhenTheMachineHasNoMemory) {
  if (kSanitized) GTEST_SKIP() << "sanitizers do not survive it";
  const TestImage image = make_test_image(1000, 400, 3);
  std::vector<std::uint8_t> jpeg;
  encode_jpeg(image.view(), {.progressive = true}, jpeg);
  const auto tiff = make_test_tiff({.name = "", .width = 1000, .height = 400, .compression = 50000}).bytes;
  for (const auto& encoded : {jpeg, png_of(image), webp_of(image), tiff}) {
    const int status = status_in_child([&] {
      AnyImageDecoder decoder;
      const auto decode = [&] { decoder.decode_rgb(encoded, decoder.read_facts(encoded), {0, 0, 8, 8}); };
      decode();
      limit_memory(0);
      try {
        decode();
      } catch (const Error& error) {
        return error.kind() == ErrorKind::kMemory ? 0 : 1;
      } catch (const std::bad_alloc&) {
        return 0;
      }
      return 2;
    });
    EXPECT_EQ(status, 0) << to_string(detect_codec(encoded));
  }
}

TEST(AnyImageDecoder, SaysWhatAFileThatIsNoImageLooksLike) {
  AnyImageDecoder decoder;
  const auto message = [&](std::string_view text) {
    const Error error = error_of(decoder, as_bytes(text));
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    return error.message();
  };
  EXPECT_THAT(message(""), HasSubstr("it is empty (0 bytes)"));
  EXPECT_THAT(message("hello, world\n"), HasSubstr("it looks like text"));
  for (const std::string brand : {"heic", "hevc", "mif1", "msf1"}) {
    EXPECT_THAT(message("\0\0\0\x14"s + "ftyp" + brand + "\0\0\0\0heic"s), HasSubstr("a HEIF image")) << brand;
  }
  EXPECT_THAT(message("<html><body>404"), HasSubstr("an HTML page"));
  EXPECT_THAT(message("\x01\x22\xFE\x33"sv), HasSubstr("its first bytes are 01 22 fe 33"));
  EXPECT_THAT(message("\xFF"), HasSubstr("its first bytes are ff"));
}

TEST(AnyImageDecoder, GarbageIsBad) {
  AnyImageDecoder decoder(kTestLimits);
  for (unsigned seed = 0; seed < rounds(500u); ++seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(random() % 300);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    const std::string_view openings[] = {"", "\xFF\xD8\xFF"sv, "\x89PNG\r\n\x1A\n"sv, "RIFF\x40\0\0\0WEBPVP8 "sv};
    const std::string_view opening = openings[seed % 4];
    bytes.insert(bytes.begin(), opening.begin(), opening.end());
    ASSERT_FALSE(try_decode(decoder, bytes)) << seed;
  }
}

TEST(AnyImageDecoder, RefusesBombsBeforeTheirMemoryIsTaken) {
  // A JPEG and a PNG whose headers claim 65,500 x 65,500 pixels. Decoding would need 12 GB.
  auto jpeg = jpeg_of(make_test_image(8, 8, 3));
  for (std::size_t i = 2; i + 8 < jpeg.size(); ++i) {
    if (jpeg[i] == 0xFF && jpeg[i + 1] == 0xC0) jpeg[i + 5] = jpeg[i + 7] = 0xFF, jpeg[i + 6] = jpeg[i + 8] = 0xDC;
  }
  AnyImageDecoder decoder;
  const Error error = error_of(decoder, jpeg);
  EXPECT_EQ(error.kind(), ErrorKind::kLimit);
  EXPECT_THAT(error.message(), HasSubstr("65500 x 65500"));
  const ImageFacts claimed{.codec = Codec::kJpeg, .width = 65500, .height = 65500, .components = 3};
  EXPECT_THROW(decoder.decode_rgb(jpeg, claimed, {0, 0, 65500, 65500}), Error);
}

TEST(AnyImageDecoder, EachLimitHolds) {
  const auto png = png_of(make_test_image(40, 30, 3));
  const auto kind_with = [&](DecodeLimits limits) {
    AnyImageDecoder decoder(limits);
    return error_of(decoder, png).message();
  };
  EXPECT_EQ(kind_with({}), "no error");
  EXPECT_EQ(kind_with({.pixels_max = 1200}), "no error");
  EXPECT_THAT(kind_with({.pixels_max = 1199}), HasSubstr("limit of 1199 pixels"));
  EXPECT_EQ(kind_with({.bytes_max = 3600}), "no error");
  EXPECT_THAT(kind_with({.bytes_max = 3599}), HasSubstr("limit of 3599"));
  EXPECT_EQ(kind_with({.side_max = 40}), "no error");
  EXPECT_THAT(kind_with({.side_max = 39}), HasSubstr("side above the limit of 39; shrink it, or cut it"));
  const ImageFacts wide{.codec = Codec::kJpeg, .width = 40, .height = 1};
  EXPECT_THROW(check_limits(wide, {.side_max = 39}), Error);
  EXPECT_NO_THROW(check_limits(wide, {.side_max = 40}));
}

}  // namespace
}  // namespace stoker
