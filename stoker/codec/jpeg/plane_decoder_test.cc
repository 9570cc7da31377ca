#include "stoker/codec/jpeg/plane_decoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stoker/base/noise_testing.h"
#include "stoker/codec/jpeg/files_testing.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_decoder.h"
#include "stoker/codec/jpeg/segment_ways_testing.h"
#include "stoker/tensor/planes_testing.h"

namespace stoker {
namespace {

struct Sampling {
  const char* name;
  int components, across, down;
};
constexpr Sampling kSamplings[] = {{"grey", 1, 1, 1}, {"444", 3, 1, 1}, {"422", 3, 2, 1},
                                   {"420", 3, 2, 2},  {"440", 3, 1, 2}, {"411", 3, 4, 1}};

TestJpeg test_jpeg(const Sampling& sampling) {
  TestJpeg jpeg;
  jpeg.name = sampling.name;
  jpeg.components = sampling.components;
  jpeg.horizontal = sampling.across;
  jpeg.vertical = sampling.down;
  return jpeg;
}

class PlaneDecoderOn : public EachSegmentWay {
 protected:
  void expect_equal(const std::vector<std::uint8_t>& encoded, Rect window, const std::string& what) {
    const std::optional<JpegHeader> header = parse_jpeg_header(encoded);
    ASSERT_TRUE(header) << what;
    for (const int shrink : {1, 2, 4, 8}) {
      expect_equal(encoded, *header, window, shrink, fmt::format("{}, shrunk by {}", what, shrink));
    }
  }
  void expect_equal(const std::vector<std::uint8_t>& encoded, const JpegHeader& header, Rect window, int shrink,
                    const std::string& what) {
    const Rect whole{0, 0, header.width, header.height};
    const Planes want = library_.decode_planes(encoded, header.facts(), whole, {}, shrink);
    const std::optional<Planes> walked = decoder_.decode(encoded, header, window, nullptr, shrink);
    ASSERT_TRUE(walked) << what;
    EXPECT_EQ(planes_difference(*walked, want), "") << what;
    EntryPoints points;
    ASSERT_TRUE(decoder_.find_entry_points(encoded, header, points)) << what;
    const std::optional<Planes> found = decoder_.decode(encoded, header, window, &points, shrink);
    ASSERT_TRUE(found) << what;
    EXPECT_EQ(planes_difference(*found, want), "") << what << " by entry points";
    EXPECT_TRUE(covers(*found, window)) << what;
  }

  JpegPlaneDecoder decoder_;
  LibjpegDecoder library_;
};
INSTANTIATE_TEST_SUITE_P(Isa, PlaneDecoderOn, testing::ValuesIn(kSegmentWays), way_name);

TEST_P(PlaneDecoderOn, MakesTheSamplesOfLibjpegForImagesOfAllSizes) {
  int kind = 0;
  for (const Sampling& sampling : kSamplings) {
    for (int width = 1; width <= 65; ++width, ++kind) {
      TestJpeg jpeg = test_jpeg(sampling);
      jpeg.quality = 1 + kind * 29 % 100;
      jpeg.optimize = kind % 2 == 0;
      const int height = 1 + kind * 37 % 65;
      const TestImage image = make_test_image(width, height, sampling.components, static_cast<unsigned>(kind));
      expect_equal(encode_test_jpeg(jpeg, image), {0, 0, width, height},
                   fmt::format("{} {} x {}, quality {}", jpeg.name, width, height, jpeg.quality));
    }
  }
}

TEST_P(PlaneDecoderOn, MakesTheSameSamplesUnderEveryWindow) {
  for (const Sampling& sampling : kSamplings) {
    const int width = 150, height = 53;
    const std::vector<std::uint8_t> encoded =
        encode_test_jpeg(test_jpeg(sampling), make_test_image(width, height, sampling.components));
    for (const Rect& window : sweep_windows(width, height)) {
      expect_equal(
          encoded, window,
          fmt::format("{} at ({}, {}) {} x {}", sampling.name, window.x, window.y, window.width, window.height));
    }
  }
}

// Enough segments for every lane of the widest decoder, several times over.
TEST_P(PlaneDecoderOn, MakesTheSameSamplesOfLargeImages) {
  Noise noise(5);
  for (const Sampling& sampling : kSamplings) {
    for (const int quality : {30, 85, 100}) {
      TestJpeg jpeg = test_jpeg(sampling);
      jpeg.quality = quality;
      jpeg.optimize = quality != 30;
      const int width = noise.between(300, 700), height = noise.between(200, 500);
      const std::vector<std::uint8_t> encoded =
          encode_test_jpeg(jpeg, make_test_image(width, height, sampling.components, static_cast<unsigned>(quality)));
      expect_equal(encoded, {0, 0, width, height}, fmt::format("{}, quality {}", sampling.name, quality));
      for (int i = 0; i < 8; ++i) {
        const int w = noise.between(1, width), h = noise.between(1, height);
        const Rect window{noise.between(0, width - w), noise.between(0, height - h), w, h};
        expect_equal(encoded, window,
                     fmt::format("{}, quality {}, ({}, {}) {} x {}", sampling.name, quality, window.x, window.y, w, h));
      }
    }
  }
}

TEST_P(PlaneDecoderOn, HonoursRestartIntervals) {
  for (const Sampling& sampling : kSamplings) {
    for (const int interval : {1, 2, 3, 7, 8, 9, 20, 64}) {
      TestJpeg jpeg = test_jpeg(sampling);
      jpeg.restart_interval = interval;
      const std::vector<std::uint8_t> encoded =
          encode_test_jpeg(jpeg, make_test_image(130, 70, sampling.components, static_cast<unsigned>(interval)));
      for (const Rect window : {Rect{0, 0, 130, 70}, Rect{41, 30, 60, 25}, Rect{100, 3, 5, 60}}) {
        expect_equal(encoded, window, fmt::format("{}, restarts every {}", sampling.name, interval));
      }
    }
  }
}

}  // namespace
}  // namespace stoker
