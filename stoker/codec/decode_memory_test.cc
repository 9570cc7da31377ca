#include "stoker/codec/decode_memory.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "stoker/base/child_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/avif/avif_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/codec/image_decoder.h"
#include "stoker/codec/jpeg2000/jpeg2000_testing.h"
#include "stoker/codec/tiff/tiff_testing.h"

namespace stoker {
namespace {

ImageFacts jpeg(JpegCoding coding) {
  return {.codec = Codec::kJpeg,
          .width = 4000,
          .height = 3000,
          .components = 3,
          .coding = coding,
          .chroma_across = 2,
          .chroma_down = 2};
}

TEST(DecodeMemory, IsThatOfTheWindowWhereNothingElseIsHeld) {
  const ImageFacts facts = jpeg(JpegCoding::kSequential);
  EXPECT_EQ(decode_rgb_memory(facts, 1'000'000, {0, 0, 100, 100}), 132u * 100 * 3 * 5 / 4)
      << "with colors that libjpeg alone decodes";
}

TEST(DecodeMemory, HasTheWholeImageWhereTheLibraryHolds) {
  const Rect window{0, 0, 10, 10};
  ImageFacts facts = jpeg(JpegCoding::kProgressive);
  EXPECT_GE(decode_rgb_memory(facts, 1'000'000, window), 2u * 4000 * 3000 * 3 / 2);
  facts.chroma_across = facts.chroma_down = 1;
  EXPECT_GE(decode_rgb_memory(facts, 1'000'000, window), 2u * 4000 * 3000 * 3);
  facts.codec = Codec::kPng;
  EXPECT_GE(decode_rgb_memory(facts, 1'000'000, window), 4000u * 3000 * 3);
  facts.codec = Codec::kWebp;
  EXPECT_GE(decode_rgb_memory(facts, 1'000'000, window), 4000u * 3000 * 7);
  facts.codec = Codec::kRaw;
  EXPECT_EQ(decode_rgb_memory(facts, 1'000'000, window), 0u);
}

/// Of 16 bits.
std::vector<std::uint8_t> wide_pnm(int width, int height) {
  const std::string header = "P6 " + std::to_string(width) + " " + std::to_string(height) + " 65535\n";
  std::vector<std::uint8_t> file(header.begin(), header.end());
  file.resize(file.size() + static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 6);
  return file;
}

/// "VmHWM", "VmRSS": of this process, in bytes.
std::int64_t memory_of_process(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1)) * 1024;
  }
  return -1;
}

TEST(DecodeMemory, OfPlanesHasTheFileAndTheFullWidthOnlyWhereTheyAreHeld) {
  const Rect window{0, 0, 100, 100};
  ImageFacts facts = jpeg(JpegCoding::kSequential);
  facts.colors = JpegColors::kYcbcr;
  const std::uint64_t small = decode_planes_memory(facts, 1'000'000, window);
  EXPECT_LT(small, 2'500'000u);
  EXPECT_EQ(decode_planes_memory(facts, 2'000'000, window) - small, 1'250'000u);
  facts.coding = JpegCoding::kProgressive;
  EXPECT_GE(decode_planes_memory(facts, 1'000'000, window), 2u * 4000 * 3000 * 3 / 2 + 3u * 4000 * 100);
}

TEST(DecodeMemory, OfACheckHasNoPixelsWhereALibraryHandsOutRows) {
  ImageFacts facts = jpeg(JpegCoding::kSequential);
  EXPECT_LT(decode_cleanly_memory(facts, 1'000'000), 4'000'000u);
  facts.coding = JpegCoding::kProgressive;
  EXPECT_GE(decode_cleanly_memory(facts, 1'000'000), 2u * 4000 * 3000 * 3 / 2);
  facts.codec = Codec::kPng;
  EXPECT_GE(decode_cleanly_memory(facts, 1'000'000), 4000u * 3000 * 3);
}

// The budget is worth what this is worth.
class DecodeMemoryOf : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Pixels, DecodeMemoryOf, testing::Values("rgb", "planes", "cleanly"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST_P(DecodeMemoryOf, IsNoLessThanWhatDecodersTake) {
  if (kSanitized) GTEST_SKIP() << "sanitizers keep memory of their own";
  const bool planes = std::string(GetParam()) == "planes", cleanly = std::string(GetParam()) == "cleanly";
  constexpr int kWidth = 1600, kHeight = 1200;
  constexpr std::int64_t kMebibyte = 1 << 20;
  const std::vector<std::vector<std::uint8_t>> images = {
      noisy_jpeg(kWidth, kHeight, 1),
      noisy_jpeg(kWidth, kHeight, 1, {.progressive = true}),
      noisy_jpeg(kWidth, kHeight, 1, {.subsampling = ChromaSubsampling::k444, .progressive = true}),
      noisy_png(kWidth, kHeight, 1),
      noisy_webp(kWidth, kHeight, 1),
      noisy_bmp(kWidth, kHeight, 1),
      noisy_pnm(kWidth, kHeight, 1),
      wide_pnm(kWidth, kHeight),
      noisy_gif(kWidth, kHeight, 1),
      noisy_tiff(kWidth, kHeight, 1),
      make_test_tiff({.name = "", .width = kWidth, .height = kHeight, .bits = 16, .rows_per_strip = kHeight}).bytes,
      make_test_tiff({.name = "", .width = kWidth, .height = kHeight, .compression = 50000, .tile = 1024}).bytes,
      make_test_jpeg2000({.name = "", .width = kWidth, .height = kHeight, .components = 1}).bytes,
      make_test_jpeg2000({.name = "", .width = kWidth, .height = kHeight, .lossy = true, .tile = 1000}).bytes,
      make_test_avif({.width = kWidth, .height = kHeight}).bytes,
      make_test_avif({.width = kWidth, .height = kHeight, .grey = true}).bytes,
      make_test_avif({.width = kWidth, .height = kHeight, .channels = 4, .bits = 10}).bytes};
  for (std::size_t i = 0; i < images.size(); ++i) {
    for (const Rect window : {Rect{0, 0, kWidth, kHeight}, Rect{100, 50, 300, 200}}) {
      const int mebibytes_over = status_in_child([&] {
        ::malloc_trim(0);  // what coding the images has left could serve the decoder
        AnyImageDecoder decoder;
        const ImageFacts facts = decoder.read_facts(images[i]);
        const std::int64_t before = memory_of_process("VmRSS");
        std::ofstream("/proc/self/clear_refs") << 5;  // the highest mark is what it is now
        std::vector<std::uint8_t> entry_points;
        if (cleanly) {
          decoder.decodes_cleanly(images[i], facts, entry_points);
        } else if (planes && facts.codec == Codec::kJpeg) {
          decoder.decode_planes(images[i], facts, window);
        } else {
          decoder.decode_rgb(images[i], facts, window);
        }
        const std::int64_t taken = memory_of_process("VmHWM") - before;
        const auto told = static_cast<std::int64_t>(cleanly ? decode_cleanly_memory(facts, images[i].size())
                                                    : planes && facts.codec == Codec::kJpeg
                                                        ? decode_planes_memory(facts, images[i].size(), window)
                                                        : decode_rgb_memory(facts, images[i].size(), window));
        return static_cast<int>(std::clamp<std::int64_t>((taken - told) / kMebibyte, 0, 100));
      });
      EXPECT_LE(mebibytes_over, 1) << "image " << i << ", window of " << window.width;
    }
  }
}

}  // namespace
}  // namespace stoker
