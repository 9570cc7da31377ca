// The device's decoder beside the CPU's: the same samples, in whatever order its threads run.
#include "stoker/codec/jpeg/device_decode.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "stoker/base/rounds_testing.h"
#include "stoker/codec/jpeg/coded_jpeg_testing.h"
#include "stoker/codec/jpeg/device_decode_testing.h"
#include "stoker/codec/jpeg/files_testing.h"
#include "stoker/tensor/planes_testing.h"

namespace stoker {
namespace {

using File = std::vector<std::uint8_t>;

// What one launch decodes, and what the CPU makes of the same.
class Launch {
 public:
  /// By default all of the image; in turn at each of the sizes at which it may be decoded.
  void add(const File& file, const std::string& name, std::optional<Rect> window = {}) {
    const int shrink = 1 << images_.size() % 4;
    const std::optional<JpegHeader> header = parse_jpeg_header(file);
    ASSERT_TRUE(header) << name;
    EntryPoints points;
    ASSERT_TRUE(decoder_.find_entry_points(file, *header, points)) << name;
    const Rect shown = window.value_or(Rect{0, 0, header->width, header->height});
    const std::optional<Planes> want = decoder_.decode(file, *header, shown, &points, shrink);
    ASSERT_TRUE(want) << name;
    Image& image = images_.emplace_back();
    image.name = fmt::format("{} {} x {} at ({}, {}) {} x {}, shrunk by {}", name, header->width, header->height,
                             shown.x, shown.y, shown.width, shown.height, shrink);
    image.want = *want;
    for (std::size_t c = 0; c < static_cast<std::size_t>(want->count); ++c) {
      Plane& plane = image.want.plane[c];
      const auto bytes = static_cast<std::size_t>(plane.row_stride) * static_cast<std::size_t>(plane.height);
      image.samples[c].assign(plane.samples, plane.samples + bytes);
      plane.samples = image.samples[c].data();
    }
    const std::optional<JpegWindow> found = decoder_.find_window(file, *header, shown, points, shrink);
    ASSERT_TRUE(found) << image.name;
    using enum FencedBytes::Fence;
    on_device_.add(*found, images_.size() % 2 ? kAfter : kBefore);
  }

  void expect_agreement() {
    for (const std::uint32_t order : {0U, 1U, 2U}) {
      on_device_.run(order);
      for (int i = 0; i < on_device_.count(); ++i) {
        const Image& image = images_[static_cast<std::size_t>(i)];
        ASSERT_FALSE(on_device_.faulty(i)) << image.name;
        ASSERT_EQ(planes_difference(on_device_.planes(i), image.want), "") << image.name << ", order " << order;
      }
    }
  }

  std::size_t size() const { return images_.size(); }
  void clear() {
    on_device_.clear();
    images_.clear();
  }

 private:
  struct Image {
    std::string name;
    Planes want;
    std::array<File, 3> samples;  // which `want` shows
  };

  JpegPlaneDecoder decoder_;
  FencedJpegs on_device_;
  std::vector<Image> images_;
};

// The kinds of file for which there are entry points.
std::vector<TestJpeg> indexed_kinds() {
  std::vector<TestJpeg> kinds;
  for (const TestJpeg& kind : test_jpeg_kinds()) {
    const File file = encode_test_jpeg(kind, make_test_image(40, 40, kind.components));
    const std::optional<JpegHeader> header = parse_jpeg_header(file);
    EntryPoints points;
    if (header && JpegPlaneDecoder().find_entry_points(file, *header, points)) kinds.push_back(kind);
  }
  return kinds;
}

TEST(DeviceJpeg, MakesTheSamplesOfTheCpuForImagesOfAllSizesInOneLaunch) {
  const std::vector<TestJpeg> kinds = indexed_kinds();
  std::set<std::pair<int, int>> samplings;
  Launch launch;
  int round = 0;
  for (TestJpeg jpeg : kinds) {
    samplings.emplace(jpeg.components == 1 ? 0 : jpeg.horizontal, jpeg.vertical);
    for (const auto& [width, height] : {std::pair{1, 1}, {1, 70}, {131, 1}, {8, 8}, {9, 17}, {64, 33}, {65, 200}}) {
      jpeg.quality = 1 + ++round * 29 % 100;
      const auto image = make_test_image(width, height, jpeg.components, static_cast<unsigned>(round));
      launch.add(encode_test_jpeg(jpeg, image), jpeg.name);
    }
  }
  EXPECT_GE(samplings.size(), 6U);  // grey, 4:4:4, 4:2:2, 4:2:0, 4:4:0, 4:1:1
  EXPECT_GE(launch.size(), 7 * 16U);
  launch.expect_agreement();
}

TEST(DeviceJpeg, MakesTheSamplesOfTheCpuUnderEveryWindow) {
  Launch launch;
  for (const TestJpeg& jpeg : indexed_kinds()) {
    const int width = 150, height = 53;
    const File file = encode_test_jpeg(jpeg, make_test_image(width, height, jpeg.components));
    for (const Rect& window : sweep_windows(width, height)) {
      if ((window.x + window.y) % 3 == 0) launch.add(file, jpeg.name, window);
    }
    launch.expect_agreement();
    if (HasFatalFailure()) return;
    launch.clear();
  }
}

// More segments than a block has threads, and images whose blocks begin and end everywhere.
TEST(DeviceJpeg, MakesTheSamplesOfTheCpuForImagesOfManyBlocks) {
  Noise noise(5);
  Launch launch;
  const std::vector<TestJpeg> kinds = indexed_kinds();
  for (int i = 0; i < rounds(12); ++i) {
    TestJpeg jpeg = kinds[noise.next() % kinds.size()];
    jpeg.quality = noise.between(30, 100);
    const int width = noise.between(300, 900), height = noise.between(1, 700);
    const File file = encode_test_jpeg(jpeg, make_test_image(width, height, jpeg.components, noise.next()));
    const int w = noise.between(1, width), h = noise.between(1, height);
    launch.add(file, jpeg.name);
    launch.add(file, jpeg.name, Rect{noise.between(0, width - w), noise.between(0, height - h), w, h});
  }
  launch.expect_agreement();
}

// Codes of every length, values that overflow, runs of any length: what no camera writes.
TEST(DeviceJpeg, MakesTheSamplesOfTheCpuOfAnyCoefficientsAndCodes) {
  Launch launch;
  for (int round = 0; round < rounds(300); ++round) {
    Noise noise(static_cast<std::uint32_t>(round));
    CodedJpeg jpeg{.width = noise.between(1, 100), .height = noise.between(1, 40)};
    jpeg.components = noise.between(0, 3) == 0 ? 1 : 3;
    if (jpeg.components == 3) jpeg.across = noise.between(1, 2), jpeg.down = noise.between(1, 2);
    jpeg.restart_interval = noise.between(0, 2) == 0 ? noise.between(1, 20) : 0;
    const int divisor_max = noise.between(0, 1) ? 65'535 : 40;
    for (std::uint16_t& entry : jpeg.quantization) entry = static_cast<std::uint16_t>(noise.between(1, divisor_max));
    // One short code, then ever longer ones up to 16 bits, and their symbols in any order.
    jpeg.ac_code.counts = {1, 0, 1, 1, 1, 2, 2, 2, 4, 4, 8, 8, 16, 30, 60, 116};
    std::iota(jpeg.ac_code.symbols.begin(), jpeg.ac_code.symbols.end(), std::uint8_t{0});
    for (std::size_t i = 255; i > 0; --i)
      std::swap(jpeg.ac_code.symbols[i], jpeg.ac_code.symbols[noise.next() % (i + 1)]);
    const int limit = 1 << noise.between(1, 14), density = noise.between(0, 63);
    for (int i = 0; i < jpeg.block_count(); ++i) {
      std::array<int, 64>& block = jpeg.blocks.emplace_back();
      block[0] = noise.between(-limit / 2, limit / 2);
      for (std::size_t k = 1; k < 64; ++k) {
        if (noise.between(0, 63) < density) block[k] = noise.between(-limit, limit);
      }
    }
    launch.add(jpeg.write(), fmt::format("round {}", round));
    if (HasFatalFailure()) return;
    if (round % 50 == 49) {
      launch.expect_agreement();
      launch.clear();
    }
  }
}

}  // namespace
}  // namespace stoker
