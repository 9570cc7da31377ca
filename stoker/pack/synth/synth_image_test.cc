#include "stoker/pack/synth/synth_image.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "stoker/base/hash.h"

namespace stoker {
namespace {

TEST(SynthImage, PhotographsAreFrozen) {
  // A change of these numbers changes every data set that was ever made: users compare with old figures.
  EXPECT_EQ(to_hex(hash64(make_photograph(7, 0, 0).pixels)), "63529715a8160d0f");
  EXPECT_EQ(to_hex(hash64(make_photograph(7, 1, 3).pixels)), "f4d344b23f7f2a26");
  EXPECT_EQ(to_hex(hash64(make_photograph(8, 5, 1).pixels)), "70a0c8d6c29977a7");
}

TEST(SynthImage, TinyImagesAreFrozen) {
  EXPECT_EQ(to_hex(hash64(make_tiny(7, 0, 0).pixels)), "8fdb7d72374a0c12");
  EXPECT_EQ(to_hex(hash64(make_tiny(7, 1, 3).pixels)), "6c81ae77f6fd9096");
}

TEST(SynthImage, EncodingsAreThoseOfImagenet) {
  constexpr int kImages = 60;
  int whole = 0, subsampled = 0, grey = 0, standard_tables = 0, long_side_500 = 0;
  double pixels = 0, bits = 0, bits_squared = 0;
  std::vector<std::uint8_t> jpeg;
  for (int i = 0; i < kImages; ++i) {
    const SynthImage image = make_photograph(0, static_cast<std::uint64_t>(i), i / 6);
    ASSERT_EQ(image.pixels.size(),
              static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height * image.channels));
    encode_jpeg(image.view(), image.encoding, jpeg);
    const double bits_per_pixel = 8.0 * static_cast<double>(jpeg.size()) / (image.width * image.height);
    bits += bits_per_pixel;
    bits_squared += bits_per_pixel * bits_per_pixel;
    pixels += image.width * image.height;
    grey += image.channels == 1;
    whole += image.channels == 3 && image.encoding.subsampling == ChromaSubsampling::k444;
    subsampled += image.encoding.subsampling == ChromaSubsampling::k420;
    standard_tables += !image.encoding.optimize;
    long_side_500 += std::max(image.width, image.height) == 500;
  }
  const double mean = bits / kImages, spread = std::sqrt(bits_squared / kImages - mean * mean);
  EXPECT_NEAR(mean, 4.5, 0.5);    // of the images' means; 4.56 in 300 real ones
  EXPECT_NEAR(spread, 2.2, 0.5);  // 2.21 in the same
  EXPECT_NEAR(pixels / kImages, 188'000, 40'000);
  EXPECT_NEAR(whole, 0.78 * kImages, 4);
  EXPECT_NEAR(subsampled, 0.19 * kImages, 4);
  EXPECT_NEAR(grey, 0.02 * kImages, 2);
  EXPECT_NEAR(standard_tables, 0.05 * kImages, 4);
  EXPECT_NEAR(long_side_500, 0.67 * kImages, 5);
}

TEST(SynthImage, NeverRepeats) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    for (std::uint64_t index = 0; index < 150; ++index) {
      EXPECT_TRUE(hashes.insert(hash64(make_tiny(seed, index, 0).pixels)).second)
          << "seed " << seed << ", image " << index;
    }
  }
}

TEST(SynthImage, ClassesHaveTheirColors) {
  // Mean of blue less red over 25 images.
  const auto blueness = [](std::int64_t label) {
    double sum = 0;
    for (std::uint64_t index = 0; index < 25; ++index) {
      const SynthImage image = make_tiny(1, index, label);
      for (std::size_t i = 0; i < image.pixels.size(); i += 3) sum += image.pixels[i + 2] - image.pixels[i];
    }
    return sum / (25 * 32 * 32);
  };
  std::set<int> rounded;
  for (std::int64_t label = 0; label < 5; ++label) rounded.insert(static_cast<int>(std::lround(blueness(label) / 5)));
  EXPECT_GE(rounded.size(), 4u);
}

}  // namespace
}  // namespace stoker
