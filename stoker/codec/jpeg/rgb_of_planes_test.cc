// RGB by Stoker's own decoder against libjpeg's.
#include "stoker/codec/jpeg/rgb_of_planes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stoker/base/isa_testing.h"
#include "stoker/codec/jpeg/files_testing.h"
#include "stoker/codec/jpeg/jpeg_decoder.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_decoder.h"

namespace stoker {
namespace {

struct RgbSampling {
  const char* name;
  int components, across, down;
};
constexpr RgbSampling kOwnSamplings[] = {{"grey", 1, 1, 1}, {"444", 3, 1, 1}, {"422", 3, 2, 1}, {"420", 3, 2, 2}};

std::vector<std::uint8_t> file_of(const RgbSampling& sampling, int width, int height) {
  return encode_test_jpeg({.name = sampling.name,
                           .components = sampling.components,
                           .horizontal = sampling.across,
                           .vertical = sampling.down,
                           .quality = 1 + (width * 29 + height) % 100},
                          make_test_image(width, height, sampling.components));
}

class RgbOfPlanesOn : public EachIsa {
 protected:
  // That the own decoder makes libjpeg's pixels of these windows.
  void expect_equal(const RgbSampling& sampling, int width, int height, const std::vector<Rect>& windows) {
    const std::vector<std::uint8_t> file = file_of(sampling, width, height);
    const ImageFacts facts = decoder_.read_facts(file);
    const std::string what = std::string(sampling.name) + " " + std::to_string(width) + " x " + std::to_string(height);
    const ImageView want = library_.decode_rgb(file, facts, {0, 0, width, height});
    std::vector<std::uint8_t> points;
    ASSERT_TRUE(decoder_.decodes_cleanly(file, facts, points)) << what;
    const PlaneDecodes before = decoder_.plane_decodes();
    for (const Rect& w : windows) {
      const std::string place = what + ", " + std::to_string(w.width) + " x " + std::to_string(w.height) + " at " +
                                std::to_string(w.x) + ", " + std::to_string(w.y);
      ASSERT_EQ(first_difference(decoder_.decode_rgb(file, facts, w), want.crop(w)), "") << place;
      ASSERT_EQ(first_difference(decoder_.decode_rgb(file, facts, w, points), want.crop(w)), "")
          << place << " by entry points";
    }
    const PlaneDecodes after = decoder_.plane_decodes();
    const auto count = std::ssize(windows);
    const bool own = makes_rgb_of(decoder_.plane_sizes(file, facts));
    ASSERT_EQ(after.own - before.own, own ? 2 * count : 0) << what;
    ASSERT_EQ(after.by_entry_points - before.by_entry_points, own ? count : 0) << what;
    ASSERT_EQ(after.by_library - before.by_library, own ? 0 : 2 * count) << what;
  }

  JpegDecoder decoder_;
  LibjpegDecoder library_;
};
INSTANTIATE_TEST_SUITE_P(Isa, RgbOfPlanesOn, testing::ValuesIn(kIsaNames), isa_name);

TEST_P(RgbOfPlanesOn, MakesLibjpegsPixelsOfImagesOfAllSizes) {
  for (const RgbSampling& sampling : kOwnSamplings) {
    for (int width = 1; width <= 70; ++width) {
      const int height = 1 + width * 37 % 41;
      expect_equal(sampling, width, height, {{0, 0, width, height}, {width / 2, height / 2, 1, 1}});
    }
  }
}

TEST_P(RgbOfPlanesOn, MakesLibjpegsPixelsOfEveryWindow) {
  for (const RgbSampling& sampling : kOwnSamplings) {
    std::vector<Rect> windows;
    for (int y = 0; y < 35; ++y) {
      for (int x = 0; x < 53; ++x) windows.push_back({x, y, std::min(1 + (x + y) % 19, 53 - x), std::min(4, 35 - y)});
    }
    expect_equal(sampling, 53, 35, windows);
    expect_equal(sampling, 300, 21, {{0, 0, 300, 21}, {1, 1, 299, 20}, {2, 2, 297, 3}, {131, 3, 169, 18}});
  }
}

TEST_P(RgbOfPlanesOn, RoundsEveryColorAsLibjpegDoes) {
  std::vector<std::uint8_t> samples[3];
  for (std::vector<std::uint8_t>& plane : samples) plane.resize(256 * 256 + kPlaneSlack);
  for (std::size_t i = 0; i < 256 * 256; ++i) {
    samples[1][i] = static_cast<std::uint8_t>(i % 256);
    samples[2][i] = static_cast<std::uint8_t>(i / 256);
  }
  Planes planes;
  planes.count = 3;
  for (std::size_t c = 0; c < 3; ++c) {
    planes.plane[c] = Plane::of(256, 256, 1, 1);
    planes.plane[c].samples = samples[c].data();
    planes.plane[c].row_stride = planes.plane[c].width = planes.plane[c].height = 256;
  }
  RgbOfPlanes rgb;
  for (int y = 0; y < 256; y += y < 250 ? 10 : 1) {
    std::fill(samples[0].begin(), samples[0].end(), static_cast<std::uint8_t>(y));
    const ImageView view = rgb.convert(planes, {0, 0, 256, 256});
    const auto clamped = [&](int value) { return std::clamp(y + value, 0, 255); };
    for (int cr = 0; cr < 256; ++cr) {
      for (int cb = 0; cb < 256; ++cb) {
        const int b = cb - 128, r = cr - 128;
        ASSERT_EQ(*view.at(cb, cr, 0), clamped((91881 * r + 32768) >> 16)) << y << " " << cb << " " << cr;
        ASSERT_EQ(*view.at(cb, cr, 1), clamped((-22554 * b - 46802 * r + 32768) >> 16)) << y << " " << cb << " " << cr;
        ASSERT_EQ(*view.at(cb, cr, 2), clamped((116130 * b + 32768) >> 16)) << y << " " << cb << " " << cr;
      }
    }
  }
}

TEST(RgbOfPlanes, LeavesWhatLibjpegUpsamplesInOtherWays) {
  const auto makes = [](int components, int across, int down, int width) {
    const std::vector<std::uint8_t> file = file_of({"other", components, across, down}, width, 20);
    JpegDecoder decoder;
    return makes_rgb_of(decoder.plane_sizes(file, decoder.read_facts(file)));
  };
  EXPECT_TRUE(makes(3, 2, 2, 20));
  EXPECT_TRUE(makes(3, 2, 1, 5));
  EXPECT_FALSE(makes(3, 2, 1, 4));
  EXPECT_FALSE(makes(3, 1, 2, 20));
  EXPECT_FALSE(makes(3, 4, 1, 20));
}

}  // namespace
}  // namespace stoker
