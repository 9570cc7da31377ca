#include "stoker/codec/gif_decoder.h"

#include <gtest/gtest.h>

#include "stoker/base/error.h"
#include "stoker/codec/damage_sweep_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/encoded_testing.h"

namespace stoker {
namespace {

TestGif gif_of(int width, int height) {
  return {.width = width,
          .height = height,
          .palette = noisy_pixels(256, 1, 3, 1),
          .indices = noisy_pixels(width, height, 1, 2)};
}

// What a viewer shows of it.
TestImage shown(const TestGif& gif) {
  TestImage image{.width = std::max(gif.screen_width, gif.left + gif.width),
                  .height = std::max(gif.screen_height, gif.top + gif.height),
                  .channels = 3,
                  .pixels = {}};
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const int column = x - gif.left, row = y - gif.top;
      const bool inside = column >= 0 && column < gif.width && row >= 0 && row < gif.height;
      const std::size_t index = inside ? gif.indices[static_cast<std::size_t>(row * gif.width + column)]
                                       : static_cast<std::size_t>(std::max(gif.transparent, 0));
      for (std::size_t c = 0; c < 3; ++c) {
        image.pixels.push_back(gif.palette.empty() ? static_cast<std::uint8_t>(index) : gif.palette[3 * index + c]);
      }
    }
  }
  return image;
}

std::vector<TestGif> kinds_of_gif() {
  std::vector<TestGif> kinds = {gif_of(1, 1), gif_of(9, 1), gif_of(1, 9), gif_of(23, 17)};
  kinds.push_back(gif_of(23, 17));
  kinds.back().own_palette = true;
  for (int height = 1; height <= 17; ++height) {
    kinds.push_back(gif_of(6, height));
    kinds.back().interlaced = true;
  }
  for (const int transparent : {-1, 77}) {
    kinds.push_back(gif_of(7, 5));
    kinds.back().left = 3, kinds.back().top = 2;
    kinds.back().screen_width = 20, kinds.back().screen_height = 10;
    kinds.back().transparent = transparent;
  }
  kinds.push_back(gif_of(7, 5));
  kinds.back().left = 4, kinds.back().top = 3;  // outside the screen, which grows
  return kinds;
}

TEST(GifDecoder, EveryWindowIsWhatAViewerShows) {
  GifDecoder decoder;
  for (const TestGif& gif : kinds_of_gif()) {
    const auto file = make_gif(gif);
    const TestImage want = shown(gif);
    const ImageFacts facts = decoder.read_facts(file);
    ASSERT_EQ(facts.codec, Codec::kGif);
    ASSERT_EQ(facts.width, want.width);
    ASSERT_EQ(facts.height, want.height);
    for (const Rect& window : sweep_windows(want.width, want.height)) {
      ASSERT_EQ(first_difference(decoder.decode_rgb(file, facts, window), want.view().crop(window)), "");
    }
  }
}

TEST(GifDecoder, AFileThatEndsBeforeItsFrameIsBad) {
  GifDecoder decoder;
  for (const TestGif& gif : kinds_of_gif()) {
    const auto file = make_gif(gif);
    for (std::size_t size = 0; size + 1 < file.size(); ++size) {  // the last byte ends the file, not the frame
      ASSERT_THROW(decoder.read_facts(first_bytes_of(file, size)), Error) << size << " of " << file.size();
    }
    EXPECT_EQ(try_decode(decoder, first_bytes_of(file, file.size() - 1))->pixels, shown(gif).pixels);
  }
}

TEST(GifDecoder, RefusesAFileWithoutAFrame) {
  GifDecoder decoder;
  const std::vector<std::uint8_t> file = {'G', 'I', 'F', '8', '9', 'a', 5, 0, 5, 0, 0, 0, 0, ';'};
  EXPECT_THROW(decoder.read_facts(file), Error);
}

TEST(GifDecoder, DamageIsBadForEveryWindowOrForNone) {
  std::vector<std::vector<std::uint8_t>> files;
  for (const TestGif& gif : kinds_of_gif()) files.push_back(make_gif(gif));
  expect_damage_is_bad_for_every_window_or_none(files, {.intact = 6, .seeds = 2000});
}

}  // namespace
}  // namespace stoker
