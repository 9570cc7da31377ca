// Decoders run per sample: in the steady state, none of their own memory may come and go. Memory that the codec
// libraries take for themselves (with malloc) is not counted.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "stoker/base/allocations_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/codec/image_decoder.h"
#include "stoker/codec/jpeg/files_testing.h"
#include "stoker/codec/png_testing.h"

namespace stoker {
namespace {

std::vector<std::uint8_t> pnm_text(int width, int height) {
  std::string text = fmt::format("P2 {} {} 300\n", width, height);
  for (int i = 0; i < width * height; ++i) text += fmt::format("{} ", i % 301);
  return {text.begin(), text.end()};
}

TEST(AnyImageDecoder, AllocatesNothingOfItsOwnOnceItHasSeenTheSizes) {
  const std::vector<std::vector<std::uint8_t>> files = {
      encode_test_jpeg({.name = "420", .horizontal = 2, .vertical = 2}, make_test_image(70, 50, 3)),
      encode_test_jpeg({.name = "cmyk", .components = 4}, make_test_image(61, 47, 4)),
      encode_test_jpeg({.name = "prog", .progressive = true}, make_test_image(66, 51, 3)),
      make_test_png({}, 60, 50).bytes,
      noisy_bmp(64, 51, 1),
      noisy_gif(65, 52, 1),
      noisy_tiff(63, 50, 1),
      noisy_pnm(62, 51, 1),
      pnm_text(61, 50),
  };
  AnyImageDecoder decoder;
  std::int64_t before = 0;
  for (int round = 0; round < 5; ++round) {
    if (round == 1) before = allocations_so_far();
    for (const auto& file : files) {
      const ImageFacts facts = decoder.read_facts(file);
      decoder.decode_rgb(file, facts, {0, 0, facts.width, facts.height});
      decoder.decode_rgb(file, facts, {9, 7, 30, 20});
    }
  }
  EXPECT_EQ(allocations_so_far() - before, 0);
}

}  // namespace
}  // namespace stoker
