#include "stoker/codec/avif/avif_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/codec/avif/avif_testing.h"
#include "stoker/codec/damage_sweep_testing.h"
#include "stoker/codec/damage_testing.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;
using testing::HasSubstr;

std::string refusal_by_avif(Bytes file) {
  AvifDecoder decoder;
  try {
    const ImageFacts facts = decoder.read_facts(file);
    decoder.decode_rgb(file, facts, {0, 0, 1, 1});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    return error.message();
  }
  return "";
}

TEST(AvifDecoder, LosslessFilesComeBackAsTheyWere) {
  AvifDecoder decoder;
  for (const TestAvif& kind : {TestAvif{},
                               {.width = 1, .height = 1},
                               {.channels = 4},
                               {.grey = true},
                               {.frames = 3},
                               {.channels = 4, .premultiplied = true}}) {
    const EncodedAvif file = make_test_avif(kind);
    const ImageFacts facts = decoder.read_facts(file.bytes);
    ASSERT_EQ(facts.codec, Codec::kAvif);
    ASSERT_EQ(facts.width, kind.width);
    ASSERT_EQ(facts.height, kind.height);
    EXPECT_EQ(facts.components, (kind.grey ? 1 : 3) + (kind.channels == 4));
    for (const Rect& window : sweep_windows(facts.width, facts.height)) {
      ASSERT_EQ(first_difference(decoder.decode_rgb(file.bytes, facts, window), file.rgb.view().crop(window)), "");
    }
  }
}

// Some programs name the container's brand first, and AVIF among the compatible ones.
TEST(AvifDecoder, ReadsFilesOfAGeneralBrand) {
  EncodedAvif file = make_test_avif({});
  constexpr std::string_view kGeneral = "mif1";
  std::copy(kGeneral.begin(), kGeneral.end(), file.bytes.begin() + 8);
  AnyImageDecoder decoder;
  EXPECT_EQ(decoder.read_facts(file.bytes).codec, Codec::kAvif);
  const auto shown = try_decode(decoder, file.bytes);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->pixels, file.rgb.pixels);
}

TEST(AvifDecoder, MoreBitsAreScaledToEight) {
  AvifDecoder decoder;
  for (const int bits : {10, 12}) {
    const EncodedAvif file = make_test_avif({.bits = bits});
    EXPECT_EQ(decoder.read_facts(file.bytes).bits_per_component, bits);
    const auto shown = try_decode(decoder, file.bytes);
    ASSERT_TRUE(shown);
    for (std::size_t i = 0; i < shown->pixels.size(); ++i) ASSERT_NEAR(shown->pixels[i], file.rgb.pixels[i], 1);
  }
}

TEST(AvifDecoder, LossyFilesGiveEveryWindowOfTheWhole) {
  AvifDecoder decoder;
  const EncodedAvif file = make_test_avif({.lossless = false});
  const auto whole = try_decode(decoder, file.bytes);
  ASSERT_TRUE(whole);
  const ImageFacts facts = decoder.read_facts(file.bytes);
  for (const Rect& window : sweep_windows(facts.width, facts.height)) {
    ASSERT_EQ(first_difference(decoder.decode_rgb(file.bytes, facts, window), whole->view().crop(window)), "");
  }
}

TEST(AvifDecoder, RotationAndMirroringAreTheOrientation) {
  AvifDecoder decoder;
  // Exif's numbers: turned anticlockwise by so many quarters, then not mirrored, upside down, left for right.
  const int orientations[3][4] = {{1, 8, 3, 6}, {4, 5, 2, 7}, {2, 7, 4, 5}};
  for (int mirror = -1; mirror <= 1; ++mirror) {
    for (int turns = 0; turns < 4; ++turns) {
      const EncodedAvif file = make_test_avif({.width = 5, .height = 4, .turns = turns, .mirror = mirror});
      EXPECT_EQ(decoder.read_facts(file.bytes).orientation, orientations[mirror + 1][turns]) << turns << " " << mirror;
      EXPECT_EQ(try_decode(decoder, file.bytes)->pixels, file.rgb.pixels);
    }
  }
}

TEST(AvifDecoder, EveryTruncationIsBad) {
  AvifDecoder decoder;
  for (const TestAvif& kind : {TestAvif{}, {.channels = 4}}) {
    const EncodedAvif file = make_test_avif(kind);
    for (std::size_t size = 0; size < file.bytes.size(); size += size < 500 ? 1 : 37) {
      ASSERT_THROW(decoder.read_facts(first_bytes_of(file.bytes, size)), Error) << size;
    }
  }
}

// Each frame costs as much as the image, and takes a few bytes.
TEST(AvifDecoder, RefusesAnImageOfManyFrames) {
  std::vector<std::uint8_t> file = make_test_avif({}).bytes;
  EXPECT_EQ(refusal_by_avif(file), "");
  const std::size_t data = as_text(file).find("mdat"sv) + 4;
  // Instead of its AV1 data: headers of frames without content.
  for (std::size_t i = 0; i < 20; ++i) {
    file[data + 2 * i] = 3 << 3 | 2;
    file[data + 2 * i + 1] = 0;
  }
  EXPECT_THAT(refusal_by_avif(file), HasSubstr("too many frames"));
}

TEST(AvifDecoder, DamageIsBadForEveryWindowOrForNone) {
  std::vector<std::vector<std::uint8_t>> files;
  for (const TestAvif& kind : {TestAvif{.width = 9, .height = 7},
                               {.width = 9, .height = 7, .channels = 4},
                               {.width = 9, .height = 7, .lossless = false},
                               {.width = 9, .height = 7, .grey = true}}) {
    files.push_back(make_test_avif(kind).bytes);
  }
  expect_damage_is_bad_for_every_window_or_none(files, {.bit_step = 3, .intact = 12, .seeds = 1000});
}

}  // namespace
}  // namespace stoker
