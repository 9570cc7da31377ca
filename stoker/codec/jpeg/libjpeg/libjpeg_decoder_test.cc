#include "stoker/codec/jpeg/libjpeg/libjpeg_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/codec/cmyk.h"
#include "stoker/codec/jpeg/files_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

TestImage reference_rgb(Bytes encoded) {
  std::optional<TestImage> whole = decode_whole_jpeg(encoded);
  if (!whole) return {};
  if (whole->channels == 4) {
    inverted_cmyk_to_rgb_in_place(whole->pixels.data(), whole->pixels.size() / 4);
    whole->channels = 3;
    whole->pixels.resize(whole->pixels.size() / 4 * 3);
  }
  return *whole;
}

Rect whole(const ImageFacts& facts) { return {0, 0, facts.width, facts.height}; }

class JpegKind : public testing::TestWithParam<TestJpeg> {
 protected:
  void expect_windows_equal(int width, int height, const std::vector<Rect>& windows) {
    const auto encoded = encode_test_jpeg(GetParam(), make_test_image(width, height, GetParam().components));
    const TestImage want = reference_rgb(encoded);
    ASSERT_EQ(want.width, width);
    const ImageFacts facts = decoder_.read_facts(encoded);
    for (const Rect& w : windows) {
      ASSERT_EQ(first_difference(decoder_.decode_rgb(encoded, facts, w), want.view().crop(w)), "")
          << width << " x " << height << ", window of " << w.width << " x " << w.height << " at " << w.x << ", " << w.y;
    }
  }

  LibjpegDecoder decoder_;
};

TEST_P(JpegKind, EveryOffsetOfAWindowEqualsTheWholeImage) {
  // Arithmetic coding is slow enough for the smaller image to do.
  if (!GetParam().arithmetic) expect_windows_equal(149, 83, sweep_windows(149, 83));
  expect_windows_equal(71, 37, sweep_windows(71, 37));
}

TEST_P(JpegKind, EveryWindowOfANarrowImageEqualsTheWholeImage) {
  for (const int width : {1, 2, 3, 4, 5, 8, 9, 16, 17, 33}) expect_windows_equal(width, 35, sweep_windows(width, 35));
}

TEST_P(JpegKind, SizesUpToFortyDecodeAsLibjpegDoes) {
  for (int side = 1; side <= 40; ++side) {
    expect_windows_equal(side, 41 - side, {{0, 0, side, 41 - side}});
    if (side % 3 == 1) expect_windows_equal(side, side, {{0, 0, side, side}});
  }
}

INSTANTIATE_TEST_SUITE_P(All, JpegKind, testing::ValuesIn(test_jpeg_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST(LibjpegDecoder, EveryWindowOfSomeSizesIsExactFor420) {
  const auto encoded = encode_test_jpeg({.name = "420", .horizontal = 2, .vertical = 2}, make_test_image(67, 50, 3));
  const TestImage want = reference_rgb(encoded);
  LibjpegDecoder decoder;
  const ImageFacts facts = decoder.read_facts(encoded);
  for (int y = 0; y < 50; ++y) {
    for (int x = 0; x < 67; ++x) {
      const Rect window{x, y, std::min(9, 67 - x), std::min(7, 50 - y)};
      ASSERT_EQ(first_difference(decoder.decode_rgb(encoded, facts, window), want.view().crop(window)), "")
          << x << ", " << y;
    }
  }
}

TEST(LibjpegDecoder, TellsTheFactsOfTheHeader) {
  LibjpegDecoder decoder;
  const ImageFacts colour = decoder.read_facts(encode_test_jpeg({.name = "c"}, make_test_image(31, 7, 3)));
  EXPECT_EQ(colour.codec, Codec::kJpeg);
  EXPECT_EQ(colour.width, 31);
  EXPECT_EQ(colour.height, 7);
  EXPECT_EQ(colour.components, 3);
  EXPECT_EQ(colour.bits_per_component, 8);
  EXPECT_EQ(colour.orientation, 1);
  EXPECT_EQ(decoder.read_facts(encode_test_jpeg({.name = "g", .components = 1}, make_test_image(3, 4, 1))).components,
            1);
  EXPECT_EQ(decoder.read_facts(encode_test_jpeg({.name = "k", .components = 4}, make_test_image(3, 4, 4))).components,
            4);
}

TEST(LibjpegDecoder, ReturnsAViewOfRgbWhosePixelsLieSideBySide) {
  const auto encoded = encode_test_jpeg({.name = "g", .components = 1}, make_test_image(20, 20, 1));
  LibjpegDecoder decoder;
  const ImageView view = decoder.decode_rgb(encoded, decoder.read_facts(encoded), {3, 4, 10, 9});
  EXPECT_EQ(view.channels, 3);
  EXPECT_TRUE(view.interleaved());
  EXPECT_EQ(*view.at(2, 2, 0), *view.at(2, 2, 2));
}

TEST(LibjpegDecoder, RefusesWindowsThatLeaveTheImage) {
  const auto encoded = encode_test_jpeg({.name = "c"}, make_test_image(20, 10, 3));
  LibjpegDecoder decoder;
  const ImageFacts facts = decoder.read_facts(encoded);
  for (const Rect& window : {Rect{-1, 0, 5, 5},
                             {0, -1, 5, 5},
                             {16, 0, 5, 5},
                             {0, 6, 5, 5},
                             {0, 0, 0, 5},
                             {0, 0, 5, 0},
                             {2147483647, 0, 1, 1},
                             {0, 0, 2147483647, 1}}) {
    EXPECT_THROW(decoder.decode_rgb(encoded, facts, window), Error);
  }
}

TEST(LibjpegDecoder, NoticesFactsOfAnotherImage) {
  const auto encoded = encode_test_jpeg({.name = "c"}, make_test_image(20, 10, 3));
  LibjpegDecoder decoder;
  ImageFacts facts = decoder.read_facts(encoded);
  facts.width = 21;
  try {
    decoder.decode_rgb(encoded, facts, whole(facts));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    EXPECT_THAT(error.message(), HasSubstr("20 x 10"));
  }
}

TEST(LibjpegDecoder, ReadsTheOrientationOfItsExifSegment) {
  auto encoded = encode_test_jpeg({.name = "c"}, make_test_image(20, 10, 3));
  const std::vector<std::uint8_t> exif = {0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0,    0,    'M', 'M',
                                          0,    42,   0, 0,  0,   8,   0,   1,   0x01, 0x12, 0,   3,
                                          0,    0,    0, 1,  0,   6,   0,   0,   0,    0,    0,   0};
  encoded.insert(encoded.begin() + 2, exif.begin(), exif.end());
  EXPECT_EQ(LibjpegDecoder().read_facts(encoded).orientation, 6);
}

}  // namespace
}  // namespace stoker
