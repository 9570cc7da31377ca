#include "stoker/codec/pnm_decoder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/codec/damage_sweep_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/encoded_testing.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::uint8_t> pnm_file(std::string_view text) { return {text.begin(), text.end()}; }

/// The red of each pixel, row by row.
std::vector<int> reds_of(std::string_view text) {
  PnmDecoder decoder;
  const auto image = try_decode(decoder, as_bytes(text));
  std::vector<int> reds;
  for (std::size_t i = 0; image && i < image->pixels.size(); i += 3) reds.push_back(image->pixels[i]);
  return reds;
}

std::string pnm_refusal_of(std::string_view text) {
  AnyImageDecoder decoder;
  try {
    const ImageFacts facts = decoder.read_facts(as_bytes(text));
    decoder.decode_rgb(as_bytes(text), facts, {0, 0, 1, 1});
  } catch (const Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.message();
  }
  return "no error";
}

/// Each kind, of 5 x 3 pixels.
std::vector<std::vector<std::uint8_t>> kinds_of_pnm() {
  const auto with_samples = [](std::string header, std::size_t bytes) {
    const auto samples = noisy_pixels(static_cast<int>(bytes), 1, 1, 7);
    header.append(as_text(samples));
    return pnm_file(header);
  };
  const auto as_text_of = [](std::string header, int count, int most) {
    for (int i = 0; i < count; ++i) header += fmt::format("{}{}", i * 7919 % (most + 1), i % 5 == 4 ? "\n" : " ");
    header.pop_back();
    return pnm_file(header);
  };
  return {as_text_of("P1\n5 3\n", 15, 1),      as_text_of("P2 5 3 300\n", 15, 300),
          as_text_of("P3\n5 3\n15\n", 45, 15), with_samples("P4 5 3\n", 3),
          with_samples("P5 5 3 255\n", 15),    with_samples("P5\n# a comment\n5 3\n65535\n", 30),
          with_samples("P5 5 3 9\n", 15),      with_samples("P6 5 3 255\n", 45),
          with_samples("P6\n5\t3\r1000\n", 90)};
}

TEST(PnmDecoder, ReadsBitsOfWhichOneIsBlack) {
  EXPECT_THAT(reds_of("P4 10 2\n\xA5\x40\x5A\x80"sv),
              ElementsAre(0, 255, 0, 255, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 0, 255, 0, 255, 0, 255));
  EXPECT_THAT(reds_of("P1\n3 2\n101\n0 1 # and\n1"sv), ElementsAre(0, 255, 0, 255, 0, 0));
}

TEST(PnmDecoder, ReadsColoursInTurn) {
  PnmDecoder decoder;
  EXPECT_THAT(try_decode(decoder, as_bytes("P6 2 1 255\nabcdef"sv))->pixels, ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
  EXPECT_THAT(try_decode(decoder, as_bytes("P3 2 1 255 1 2 3 254 255 0"sv))->pixels, ElementsAre(1, 2, 3, 254, 255, 0));
  EXPECT_THAT(try_decode(decoder, as_bytes("P5 2 1 255\nab"sv))->pixels, ElementsAre('a', 'a', 'a', 'b', 'b', 'b'));
}

TEST(PnmDecoder, ScalesToEightBitsWithTiesToEven) {
  EXPECT_THAT(reds_of("P2 4 1 2 0 1 2 1"), ElementsAre(0, 128, 255, 128));          // 127.5
  EXPECT_THAT(reds_of("P2 3 1 102 1 3 5"), ElementsAre(2, 8, 12));                  // 2.5, 7.5, 12.5
  EXPECT_THAT(reds_of("P5 4 1 3\n\0\1\3\4"sv), ElementsAre(0, 85, 255, 255));       // above the largest is the largest
  EXPECT_THAT(reds_of("P3 2 1 65535 32768 0 0 65535 0 0"), ElementsAre(128, 255));  // of colours
  EXPECT_THAT(reds_of("P6 1 1 1000\n\1\xF4\0\0\0\0"sv), ElementsAre(128));
}

TEST(PnmDecoder, KeepsTheHighByteOfWideGreys) {
  EXPECT_THAT(reds_of("P5 3 1 65535\n\x12\xFF\x7F\xFF\xFF\x00"sv), ElementsAre(0x12, 0x7F, 0xFF));
  EXPECT_THAT(reds_of("P2 3 1 4095 0 2048 4095"), ElementsAre(0, 128, 255));
  EXPECT_THAT(reds_of("P5 2 1 256\n\0\x80\1\1"sv), ElementsAre(128, 255));
}

TEST(PnmDecoder, TellsWhatTheImageIs) {
  PnmDecoder decoder;
  const ImageFacts colours = decoder.read_facts(noisy_pnm(7, 4, 1));
  EXPECT_EQ(colours, (ImageFacts{.codec = Codec::kPnm, .width = 7, .height = 4, .components = 3}));
  const ImageFacts wide = decoder.read_facts(as_bytes("P5 1 1 256 \1\1"sv));
  EXPECT_EQ(wide.components, 1);
  EXPECT_EQ(wide.bits_per_component, 16);
  EXPECT_EQ(decoder.read_facts(as_bytes("P4 1 1 \1"sv)).bits_per_component, 1);
}

TEST(PnmDecoder, PassesOverCommentsAndEndsTheHeaderAtOneWhiteSpace) {
  EXPECT_THAT(reds_of("P5\n# GIMP\n2 # wide\n# high:\n1\n255\n# "), ElementsAre('#', ' '));
  EXPECT_THAT(reds_of("P5 1 1 255# a comment\n\n"), ElementsAre('\n'));
  EXPECT_THAT(reds_of("P2 # 9\r2 1\v7\f7#\n0"), ElementsAre(255, 0));
}

TEST(PnmDecoder, SaysWhatIsWrong) {
  const auto refused = [](std::string_view text, std::string_view why) {
    EXPECT_THAT(pnm_refusal_of(text), AllOf(HasSubstr("bad_sample: the PNM data cannot be decoded: "), HasSubstr(why)))
        << text;
  };
  refused("P6\n", "it ends before its width");
  refused("P6\n3", "it ends before its height");
  refused("P6\n3 x", "its height is not a number");
  refused("P6\n3 -4 255\n", "its height is not a number");
  refused("P6\n3 2\n", "it ends before its largest value");
  refused("P6\n3 2\n255", "it ends after its header");
  refused("P6\n0 2\n255\n", "its width is 0, and may be 1 to");
  refused("P6\n2 99999999999 255\n", "its height is not a number");
  refused("P6\n2 9999999999 255\n", "its height is 9999999999, and may be 1 to 2147483647");
  refused("P5\n2 2\n65536\n", "its largest value is 65536, and may be 1 to 65535");
  refused("P5\n2 2\n0\n", "its largest value is 0");
  refused("P6 2147483647 2147483647 65535\nabc",
          "it is truncated: its 2147483647 x 2147483647 pixels do not fit in the 3");
  refused("P5 2 2 255\nabc", "2 x 2 pixels do not fit in the 3 bytes");
  refused("P4 9 2\nabc", "do not fit in the 3 bytes");
  refused("P2 2 2 9\n1 1  1 ", "it ends before its last pixel");
  refused("P2 2 2 9\n1 1 1 10", "a pixel has the value 10, above its largest of 9");
  refused("P2 2 2 9\n1 1 1 1x", "a value of a pixel is not a number");
  refused("P3 1 1 9\n1 1 +1", "a value of a pixel is not a number");
  refused("P1 2 2\n10 12", "neither 0 nor 1");
  refused("P1 2 2\n10#  ", "it ends before its last pixel");
}

TEST(PnmDecoder, SizesAboveTheLimitsAreRefusedAsOtherImagesAre) {
  AnyImageDecoder decoder({.pixels_max = 5});
  EXPECT_THROW(decoder.read_facts(as_bytes("P1 3 2 101010"sv)), Error);
  EXPECT_NO_THROW(decoder.read_facts(as_bytes("P1 5 1 10101"sv)));
  EXPECT_THAT(pnm_refusal_of("P4 70000 1\n" + std::string(8750, 'x')), HasSubstr("limit: "));
}

TEST(PnmDecoder, EveryWindowEqualsTheWholeImage) {
  PnmDecoder decoder, other;
  for (const auto& file : kinds_of_pnm()) {
    const ImageFacts facts = decoder.read_facts(file);
    EXPECT_EQ(facts.codec, Codec::kPnm);
    const TestImage whole = *try_decode(other, file);
    for (const Rect& window : sweep_windows(facts.width, facts.height)) {
      ASSERT_EQ(first_difference(decoder.decode_rgb(file, facts, window), whole.view().crop(window)), "");
    }
  }
}

TEST(PnmDecoder, ATruncatedFileIsBad) {
  PnmDecoder decoder;
  for (const auto& file : kinds_of_pnm()) {
    ASSERT_TRUE(try_decode(decoder, file));
    const bool numbers = file[1] == '2' || file[1] == '3';  // whose last one may lose digits, and yet be one
    for (std::size_t size = 0; size + (numbers ? 3 : 0) < file.size(); ++size) {
      ASSERT_FALSE(try_decode(decoder, first_bytes_of(file, size))) << as_text(file) << size;
    }
  }
}

TEST(PnmDecoder, DamageIsBadForEveryWindowOrForNone) {
  const auto kinds = kinds_of_pnm();
  expect_damage_is_bad_for_every_window_or_none(kinds, {.flipped = kinds.size(), .intact = 3, .seeds = 2000});
}

}  // namespace
}  // namespace stoker
