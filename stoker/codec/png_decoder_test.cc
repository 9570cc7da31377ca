#include "stoker/codec/png_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/png_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

std::vector<TestPng> kinds_of_png() {
  struct Type {
    const char* name;
    int color_type;
    std::vector<int> depths;
  };
  const Type types[] = {{"Grey", 0, {1, 2, 4, 8, 16}},
                        {"Rgb", 2, {8, 16}},
                        {"Palette", 3, {1, 2, 4, 8}},
                        {"GreyAlpha", 4, {8, 16}},
                        {"Rgba", 6, {8, 16}}};
  std::vector<TestPng> kinds;
  for (const Type& type : types) {
    for (const int depth : type.depths) {
      for (const bool interlaced : {false, true}) {
        for (const bool key : {false, true}) {
          if (key && type.color_type >= 4) continue;
          kinds.push_back({type.name + std::to_string(depth) + (interlaced ? "Interlaced" : "") + (key ? "Key" : ""),
                           type.color_type, depth, interlaced, key});
        }
      }
    }
  }
  return kinds;
}

class PngKind : public testing::TestWithParam<TestPng> {};

TEST_P(PngKind, DecodesToTheRgbThatTheStandardSays) {
  PngDecoder decoder;
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {9, 1}, {7, 5}, {8, 8}, {33, 17}}) {
    const EncodedPng png = make_test_png(GetParam(), width, height);
    const ImageFacts facts = decoder.read_facts(png.bytes);
    EXPECT_EQ(first_difference(decoder.decode_rgb(png.bytes, facts, {0, 0, width, height}), png.rgb.view()), "")
        << width << " x " << height;
  }
}

TEST_P(PngKind, EveryWindowEqualsTheWholeImage) {
  PngDecoder decoder;
  const EncodedPng png = make_test_png(GetParam(), 21, 13);
  const ImageFacts facts = decoder.read_facts(png.bytes);
  for (const Rect& window : sweep_windows(21, 13)) {
    ASSERT_EQ(first_difference(decoder.decode_rgb(png.bytes, facts, window), png.rgb.view().crop(window)), "");
  }
}

INSTANTIATE_TEST_SUITE_P(All, PngKind, testing::ValuesIn(kinds_of_png()),
                         [](const auto& kind) { return kind.param.name; });

TEST(PngDecoder, TellsTheFactsOfTheHeader) {
  PngDecoder decoder;
  const auto facts = [&](int color_type, int bit_depth) {
    return decoder.read_facts(make_test_png({"", color_type, bit_depth}, 12, 34).bytes);
  };
  EXPECT_EQ(facts(2, 8).codec, Codec::kPng);
  EXPECT_EQ(facts(2, 8).width, 12);
  EXPECT_EQ(facts(2, 8).height, 34);
  EXPECT_EQ(facts(0, 1).components, 1);
  EXPECT_EQ(facts(0, 1).bits_per_component, 1);
  EXPECT_EQ(facts(2, 16).components, 3);
  EXPECT_EQ(facts(2, 16).bits_per_component, 16);
  EXPECT_EQ(facts(3, 4).components, 3);
  EXPECT_EQ(facts(3, 4).bits_per_component, 8);
  EXPECT_EQ(facts(4, 8).components, 2);
  EXPECT_EQ(facts(6, 8).components, 4);
}

TEST(PngDecoder, ReadsTheOrientationOfItsExifChunk) {
  auto encoded = make_test_png({}, 5, 4).bytes;
  const auto exif = png_chunk("eXIf", {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 8, 0, 0, 0});
  encoded.insert(encoded.begin() + 33, exif.begin(), exif.end());  // after the signature and the header chunk
  PngDecoder decoder;
  const ImageFacts facts = decoder.read_facts(encoded);
  EXPECT_EQ(facts.orientation, 8);
  EXPECT_NO_THROW(decoder.decode_rgb(encoded, facts, {0, 0, 5, 4}));
}

TEST(PngDecoder, SaysThatAFileHasTooManyTexts) {
  const auto refusal_with = [](const std::vector<std::uint8_t>& chunk, int count) -> std::string {
    auto encoded = make_test_png({}, 5, 4).bytes;
    for (int i = 0; i < count; ++i) encoded.insert(encoded.begin() + 33, chunk.begin(), chunk.end());
    PngDecoder decoder;
    try {
      decoder.decode_rgb(encoded, decoder.read_facts(encoded), {0, 0, 5, 4});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
      return error.message();
    }
    return "";
  };
  EXPECT_EQ(refusal_with(png_chunk("tEXt", {'k', 0, 'v'}), 1000), "");
  EXPECT_THAT(refusal_with(png_chunk("tEXt", {'k', 0, 'v'}), 1001), HasSubstr("more than 1,000 texts"));
  EXPECT_THAT(refusal_with(png_chunk("eXIf", {}), 1), HasSubstr("an empty Exif chunk; write the file again"));
}

TEST(PngDecoder, EveryTruncationIsBad) {
  PngDecoder decoder;
  const auto encoded = make_test_png({}, 15, 14).bytes;
  for (std::size_t size = 0; size < encoded.size(); ++size) {
    ASSERT_THROW(decoder.read_facts(first_bytes_of(encoded, size)), Error) << size;
  }
}

TEST(PngDecoder, AFlippedBitIsBadForEveryWindow) {
  PngDecoder decoder;
  const auto encoded = make_test_png({}, 6, 5).bytes;
  for (std::size_t bit = 0; bit < 8 * encoded.size(); ++bit) {
    auto broken = encoded;
    broken[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    ASSERT_FALSE(try_decode(decoder, broken, {0, 0, 1, 1})) << "bit " << bit;
  }
}

TEST(PngDecoder, NamesAWrongChecksum) {
  PngDecoder decoder;
  auto encoded = make_test_png({}, 6, 5).bytes;
  const ImageFacts facts = decoder.read_facts(encoded);
  encoded[encoded.size() - 13] ^= 1;  // the checksum of the last pixels, before the 12 bytes of the end chunk
  try {
    decoder.decode_rgb(encoded, facts, {0, 0, 1, 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    EXPECT_THAT(error.message(), HasSubstr("checksum"));
  }
}

TEST(PngDecoder, RandomDamageNeverCrashesAndDecodesTheSameTwice) {
  AnyImageDecoder decoder(kTestLimits), other(kTestLimits);
  const auto kinds = kinds_of_png();
  for (unsigned seed = 0; seed < rounds(2000u); ++seed) {
    std::mt19937 random(seed);
    auto broken = damaged(make_test_png(kinds[seed % kinds.size()], 19, 11).bytes, 8, random);
    if (seed % 2) {  // give the header a valid checksum again, so that its fields are believed
      const auto header = png_chunk("IHDR", {broken.begin() + 16, broken.begin() + 29});
      std::copy(header.begin(), header.end(), broken.begin() + 8);
    }
    const auto first = try_decode(decoder, broken), second = try_decode(other, broken);
    ASSERT_EQ(first.has_value(), second.has_value()) << seed;
    if (first) {
      ASSERT_EQ(first->pixels, second->pixels) << seed;
    }
  }
}

TEST(PngDecoder, ADecoderWorksAgainAfterAnError) {
  const EncodedPng png = make_test_png({}, 15, 14);
  PngDecoder decoder;
  EXPECT_FALSE(try_decode(decoder, first_bytes_of(png.bytes, png.bytes.size() / 2)));
  EXPECT_EQ(try_decode(decoder, png.bytes)->pixels, png.rgb.pixels);
}

}  // namespace
}  // namespace stoker
