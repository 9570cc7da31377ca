#include "stoker/codec/jpeg2000/jpeg2000_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/codec/damage_sweep_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/jpeg2000/jpeg2000_testing.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;
using testing::HasSubstr;
using testing::Not;

std::vector<TestJpeg2000> kinds_of_jpeg2000() {
  std::vector<TestJpeg2000> kinds = {{.name = "plain"},
                                     {.name = "bare", .boxed = false},
                                     {.name = "dot", .width = 1, .height = 1, .resolutions = 1},
                                     {.name = "tiles", .tile = 16},
                                     {.name = "layers", .layers = 5},
                                     {.name = "small_blocks", .block = 8},
                                     {.name = "offset", .tile = 16, .left = 5, .top = 9},
                                     {.name = "alpha", .components = 4},
                                     {.name = "grey_alpha", .components = 2},
                                     {.name = "grey_16_signed", .components = 1, .bits = 16, .is_signed = true}};
  for (const int bits : {1, 4, 8, 12, 16}) {
    kinds.push_back({.name = "grey_" + std::to_string(bits), .components = 1, .bits = bits});
  }
  kinds.push_back({.name = "rgb_16", .bits = 16});
  kinds.push_back({.name = "signed", .is_signed = true});
  for (int progression = 0; progression <= 4; ++progression) {
    const std::string name = "progression_" + std::to_string(progression);
    kinds.push_back({.name = name, .tile = 32, .layers = 2, .progression = progression, .precinct = 16});
  }
  return kinds;
}

std::string refusal_by_jpeg2000(Bytes file) {
  Jpeg2000Decoder decoder;
  try {
    const ImageFacts facts = decoder.read_facts(file);
    decoder.decode_rgb(file, facts, {0, 0, 1, 1});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    return error.message();
  }
  return "";
}

/// Where the bytes stand in the file.
std::size_t find_in(const std::vector<std::uint8_t>& file, std::string_view bytes) {
  const std::size_t at = as_text(file).find(bytes);
  EXPECT_NE(at, std::string_view::npos);
  return at;
}

class Jpeg2000DecoderOf : public testing::TestWithParam<TestJpeg2000> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Jpeg2000DecoderOf, testing::ValuesIn(kinds_of_jpeg2000()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST_P(Jpeg2000DecoderOf, EveryWindowIsWhatTheSamplesMean) {
  const EncodedJpeg2000 file = make_test_jpeg2000(GetParam());
  Jpeg2000Decoder decoder;
  const ImageFacts facts = decoder.read_facts(file.bytes);
  ASSERT_EQ(facts.codec, Codec::kJpeg2000);
  ASSERT_EQ(facts.width, file.rgb.width);
  ASSERT_EQ(facts.height, file.rgb.height);
  for (const Rect& window : sweep_windows(facts.width, facts.height)) {
    ASSERT_EQ(first_difference(decoder.decode_rgb(file.bytes, facts, window), file.rgb.view().crop(window)), "");
  }
  std::vector<std::uint8_t> entry_points;
  EXPECT_TRUE(decoder.decodes_cleanly(file.bytes, facts, entry_points));
}

TEST_P(Jpeg2000DecoderOf, EveryTruncationIsBad) {
  const EncodedJpeg2000 file = make_test_jpeg2000(GetParam());
  Jpeg2000Decoder decoder;
  // The marker that ends a bare codestream has no pixels.
  for (std::size_t size = 0; size + 2 < file.bytes.size(); size += size < 300 ? 1 : 37) {
    ASSERT_THROW(decoder.read_facts(first_bytes_of(file.bytes, size)), Error) << size;
  }
}

TEST(Jpeg2000Decoder, CoarseChromaAndLossyFilesGiveEveryWindowOfTheWhole) {
  Jpeg2000Decoder decoder;
  for (const TestJpeg2000& kind : {TestJpeg2000{.name = "chroma", .chroma = 2},
                                   {.name = "chroma_offset", .chroma = 2, .left = 3, .top = 1},
                                   {.name = "lossy", .lossy = true},
                                   {.name = "lossy_tiles", .lossy = true, .tile = 16}}) {
    const auto file = make_test_jpeg2000(kind).bytes;
    const auto whole = try_decode(decoder, file);
    ASSERT_TRUE(whole) << kind.name;
    const ImageFacts facts = decoder.read_facts(file);
    for (const Rect& window : sweep_windows(facts.width, facts.height)) {
      ASSERT_EQ(first_difference(decoder.decode_rgb(file, facts, window), whole->view().crop(window)), "") << kind.name;
    }
  }
}

TEST(Jpeg2000Decoder, LooksUpThePaletteOfAJp2File) {
  const auto grey = make_test_jpeg2000({.name = "", .components = 1, .bits = 1});
  std::vector<std::uint8_t> file = grey.bytes;
  // The header's last box is the colours'; after it comes a palette of two colours.
  const std::size_t header = find_in(file, "jp2h"sv), colors = find_in(file, "colr"sv);
  file[colors + 10] = 16;  // sRGB: the last byte of the box is the space
  const std::size_t length = static_cast<std::size_t>(file[header - 1]);
  const std::vector<std::uint8_t> palette = {0, 0, 0, 20, 'p', 'c', 'l', 'r', 0,   2,
                                             3, 7, 7, 7,  10,  20,  30,  200, 210, 220};
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(header - 4 + length), palette.begin(), palette.end());
  file[header - 1] = static_cast<std::uint8_t>(length + palette.size());
  Jpeg2000Decoder decoder;
  const auto shown = try_decode(decoder, file);
  ASSERT_TRUE(shown);
  for (std::size_t i = 0; i < shown->pixels.size(); i += 3) {
    const bool second = grey.rgb.pixels[i] != 0;
    ASSERT_EQ(shown->pixels[i], second ? 200 : 10);
    ASSERT_EQ(shown->pixels[i + 2], second ? 220 : 30);
  }
}

TEST(Jpeg2000Decoder, RefusesHeadersThatAskForMuch) {
  const auto good = make_test_jpeg2000({.name = "", .boxed = false, .precinct = 32}).bytes;
  EXPECT_EQ(refusal_by_jpeg2000(good), "");
  const std::size_t size = find_in(good, "\xFF\x51"sv), style = find_in(good, "\xFF\x52"sv);
  const auto changed = [&](std::size_t at, std::initializer_list<int> bytes) {
    std::vector<std::uint8_t> file = good;
    for (const int byte : bytes) file[at++] = static_cast<std::uint8_t>(byte);
    return refusal_by_jpeg2000(file);
  };
  EXPECT_THAT(changed(size + 22, {0, 0, 0, 1, 0, 0, 0, 1}), HasSubstr("too many tiles"));
  EXPECT_THAT(changed(size + 22, {0, 0, 0, 0}), HasSubstr("tiles make no sense"));
  EXPECT_THAT(changed(size + 38, {0, 5}), HasSubstr("5 components are not read"));
  EXPECT_THAT(changed(size + 40, {24}), HasSubstr("more than 16 bits"));
  EXPECT_THAT(changed(size + 41, {2}), HasSubstr("differ in their sizes"));
  EXPECT_THAT(changed(size + 6, {0xFF, 0xFF, 0xFF, 0xFF}), HasSubstr("size makes no sense"));
  EXPECT_THAT(changed(style + 14, {0, 0x11, 0x11, 0x11}),
              Not(HasSubstr("divided")));  // fine for few pixels
  EXPECT_THAT(changed(style + 6, {0xFF, 0xFF}), HasSubstr("divided too finely"));
  EXPECT_THAT(changed(style + 9, {33}), HasSubstr("too many resolutions"));
  EXPECT_THAT(changed(style + 10, {9}), HasSubstr("blocks of code make no sense"));
  EXPECT_THAT(changed(style + 12, {0x40}), HasSubstr("high-throughput"));
  std::vector<std::uint8_t> large = good;
  for (const std::size_t at : {size + 6, size + 10, size + 22, size + 26}) large[at + 2] = 0x20;  // 8,192 a side
  for (std::size_t i = 0; i < 4; ++i) large[style + 14 + i] = 0x11;
  EXPECT_THAT(refusal_by_jpeg2000(large), HasSubstr("divided too finely"));
}

TEST(Jpeg2000Decoder, DamageIsBadForEveryWindowOrForNone) {
  std::vector<std::vector<std::uint8_t>> files;
  for (TestJpeg2000 kind : kinds_of_jpeg2000()) {
    kind.width = std::min(kind.width, 19), kind.height = std::min(kind.height, 11);
    files.push_back(make_test_jpeg2000(kind).bytes);
  }
  expect_damage_is_bad_for_every_window_or_none(files, {.bytes_max = 300, .intact = 12, .seeds = 2000});
}

}  // namespace
}  // namespace stoker
