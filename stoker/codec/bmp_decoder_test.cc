#include "stoker/codec/bmp_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/codec/damage_sweep_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/encoded_testing.h"

namespace stoker {
namespace {

/// A file of 5 x 3 pixels by default, whose pixels the test writes.
struct TestBmp {
  int bits = 8, compression = 0, width = 5, height = 3, colors = 0;
  std::vector<std::uint8_t> after_header{};  // masks or a palette
  std::vector<std::uint8_t> data{};

  std::vector<std::uint8_t> file() const {
    std::vector<std::uint8_t> bytes = {'B', 'M'};
    const int begin = 54 + static_cast<int>(after_header.size());
    for (const int number : {begin + static_cast<int>(data.size()), 0, begin, 40, width, height, 1 | bits << 16,
                             compression, 0, 0, 0, colors, 0}) {
      append_little_endian(bytes, number);
    }
    bytes.insert(bytes.end(), after_header.begin(), after_header.end());
    bytes.insert(bytes.end(), data.begin(), data.end());
    return bytes;
  }
};

// Colour i is (10 i, 10 i + 1, 10 i + 2).
std::vector<std::uint8_t> ramp(int colors) {
  std::vector<std::uint8_t> palette;
  for (int i = 0; i < colors; ++i) {
    for (const int value : {10 * i + 2, 10 * i + 1, 10 * i, 0}) palette.push_back(static_cast<std::uint8_t>(value));
  }
  return palette;
}

// What the red channel of a file with that palette says of the indices, row by row.
std::vector<int> indices_of(const std::vector<std::uint8_t>& file) {
  BmpDecoder decoder;
  const ImageFacts facts = decoder.read_facts(file);
  const TestImage image = copy_image(decoder.decode_rgb(file, facts, {0, 0, facts.width, facts.height}));
  std::vector<int> indices;
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
    indices.push_back(image.pixels[i] / 10);
    EXPECT_EQ(image.pixels[i + 2], image.pixels[i] + 2);
  }
  return indices;
}

std::vector<std::vector<std::uint8_t>> kinds_of_bmp() {
  const auto pixels = [](int bytes) { return noisy_pixels(bytes, 1, 1, 7); };
  return {
      noisy_bmp(5, 3, 1),
      TestBmp{.bits = 1, .colors = 2, .after_header = ramp(2), .data = pixels(12)}.file(),
      TestBmp{.bits = 4, .colors = 16, .after_header = ramp(16), .data = pixels(12)}.file(),
      TestBmp{.bits = 8, .colors = 20, .after_header = ramp(20), .data = pixels(24)}.file(),
      TestBmp{.bits = 16, .data = pixels(36)}.file(),
      TestBmp{.bits = 16,
              .compression = 3,
              .after_header = {0, 0xF8, 0, 0, 0xE0, 7, 0, 0, 0x1F, 0, 0, 0},
              .data = pixels(36)}
          .file(),
      TestBmp{.bits = 32, .data = pixels(60)}.file(),
      TestBmp{.bits = 8, .compression = 1, .colors = 20, .after_header = ramp(20), .data = {5, 3, 0, 0, 0, 5, 1, 2,
                                                                                            3, 4, 5, 0, 0, 0, 2, 9,
                                                                                            0, 2, 1, 0, 2, 8, 0, 1}}
          .file(),
      TestBmp{.bits = 4,
              .compression = 2,
              .colors = 16,
              .after_header = ramp(16),
              .data = {5, 0x37, 0, 0, 0, 5, 0x12, 0x34, 0x50, 0, 0, 0, 5, 0x98, 0, 1}}
          .file(),
  };
}

TEST(BmpDecoder, ReadsRowsFromTheBottomOrTheTop) {
  const std::vector<std::uint8_t> data = {1, 2, 3, 4, 5, 0, 0, 0, 6, 7, 8, 9, 10, 0, 0, 0};
  TestBmp bmp{.bits = 8, .height = 2, .colors = 20, .after_header = ramp(20), .data = data};
  EXPECT_THAT(indices_of(bmp.file()), testing::ElementsAre(6, 7, 8, 9, 10, 1, 2, 3, 4, 5));
  bmp.height = -2;
  EXPECT_THAT(indices_of(bmp.file()), testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST(BmpDecoder, FollowsRunsLiteralsAndJumps) {
  TestBmp bmp{.bits = 8, .compression = 1, .colors = 20, .after_header = ramp(20)};
  bmp.data = {9, 3, 0, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0, 2, 9, 0, 2, 1, 0, 2, 8, 0, 1};  // the first run is too long
  EXPECT_THAT(indices_of(bmp.file()), testing::ElementsAre(9, 9, 0, 8, 8, 1, 2, 3, 4, 5, 3, 3, 3, 3, 3));
  bmp.bits = 4, bmp.compression = 2, bmp.colors = 16, bmp.after_header = ramp(16);
  bmp.data = {5, 0x37, 0, 0, 0, 5, 0x12, 0x34, 0x50, 0, 0, 0, 5, 0x98, 0, 1};
  EXPECT_THAT(indices_of(bmp.file()), testing::ElementsAre(9, 8, 9, 8, 9, 1, 2, 3, 4, 5, 3, 7, 3, 7, 3));
}

TEST(BmpDecoder, TakesColoursByTheirMasks) {
  BmpDecoder decoder;
  TestBmp bmp{.bits = 16, .width = 2, .height = 1, .data = {0xE1, 0x7F, 0x1F, 0x00}};
  EXPECT_THAT(try_decode(decoder, bmp.file())->pixels, testing::ElementsAre(255, 255, 8, 0, 0, 255));
  bmp.compression = 3;
  bmp.after_header = {0, 0xF8, 0, 0, 0xE0, 7, 0, 0, 0x1F, 0, 0, 0};
  EXPECT_THAT(try_decode(decoder, bmp.file())->pixels, testing::ElementsAre(123, 255, 8, 0, 0, 255));
  bmp.bits = 32, bmp.width = 1, bmp.data = {1, 2, 3, 4};
  bmp.after_header = {0, 0, 0, 0xFF, 0, 0, 0xFF, 0, 0, 0xFF, 0, 0};
  EXPECT_THAT(try_decode(decoder, bmp.file())->pixels, testing::ElementsAre(4, 3, 2));
  bmp.after_header[0] = 1;
  EXPECT_FALSE(try_decode(decoder, bmp.file()));
}

TEST(BmpDecoder, EveryWindowEqualsTheWholeImage) {
  BmpDecoder decoder, other;
  for (const auto& file : kinds_of_bmp()) {
    const ImageFacts facts = decoder.read_facts(file);
    EXPECT_EQ(facts.codec, Codec::kBmp);
    const TestImage whole = *try_decode(other, file);
    for (const Rect& window : sweep_windows(facts.width, facts.height)) {
      ASSERT_EQ(first_difference(decoder.decode_rgb(file, facts, window), whole.view().crop(window)), "");
    }
  }
}

TEST(BmpDecoder, ATruncatedFileIsBadOrLacksOnlyPadding) {
  BmpDecoder decoder;
  for (const auto& file : kinds_of_bmp()) {
    const TestImage whole = *try_decode(decoder, file);
    for (std::size_t size = 0; size + 4 < file.size(); ++size) {
      ASSERT_FALSE(try_decode(decoder, first_bytes_of(file, size))) << size << " of " << file.size();
    }
    for (std::size_t size = file.size() - 4; size < file.size(); ++size) {
      const auto cut = try_decode(decoder, first_bytes_of(file, size));
      ASSERT_TRUE(!cut || cut->pixels == whole.pixels) << size;
    }
  }
}

TEST(BmpDecoder, DamageIsBadForEveryWindowOrForNone) {
  const auto kinds = kinds_of_bmp();
  expect_damage_is_bad_for_every_window_or_none(kinds, {.flipped = kinds.size(), .intact = 18, .seeds = 2000});
}

}  // namespace
}  // namespace stoker
