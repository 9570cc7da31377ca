// Entry points that lie: of another file, or damaged. What is decoded by them is right, or it is nothing.
//
// A segment is decoded to its end if the window's right edge does not cut it. Then its last bit and its DC values must
// be those of the next entry point; and it is known where the scan begins, and which marker stands before an interval.
// So each segment vouches for the next one, and nothing gets by in a window that is as wide as the image and begins at
// its top.
//
// What cannot be caught elsewhere, because nothing is decoded that could tell:
// - entry points that are true of other segments which follow one another, as if the rows had been moved;
// - DC values that are shifted alike from where the window begins in a row to its right edge;
// - a window's first entry point with a bit and DC values that happen to lead to the right end of its segment;
// - where the window's right edge cuts a segment, anything wrong with that segment's own begin, unless the segment
//   before it is in the window, too.
#include "stoker/codec/jpeg/entry_points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "stoker/base/fenced_bytes_testing.h"
#include "stoker/base/noise_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/jpeg/files_testing.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_decoder.h"
#include "stoker/codec/jpeg/plane_decoder.h"
#include "stoker/codec/jpeg/segment_ways_testing.h"
#include "stoker/tensor/planes_testing.h"

namespace stoker {
namespace {

// A file beyond whose bytes no read may go, its entry points, and what libjpeg makes of it.
struct Subject {
  std::string name;
  std::unique_ptr<FencedBytes> memory;
  Bytes encoded;
  JpegHeader header;
  EntryPoints points;
  std::unique_ptr<LibjpegDecoder> library = std::make_unique<LibjpegDecoder>();
  Planes want;

  Subject(const TestJpeg& jpeg, int width, int height, FencedBytes::Fence fence) : name(jpeg.name) {
    const std::vector<std::uint8_t> file = encode_test_jpeg(jpeg, make_test_image(width, height, jpeg.components));
    memory = std::make_unique<FencedBytes>(file.size(), fence);
    std::copy(file.begin(), file.end(), memory->data());
    encoded = {memory->data(), file.size()};
    header = parse_jpeg_header(encoded).value();
    EXPECT_TRUE(JpegPlaneDecoder().find_entry_points(encoded, header, points));
    want = library->decode_planes(encoded, header.facts(), whole());
  }
  Rect whole() const { return {0, 0, header.width, header.height}; }
  std::uint64_t scan_bits() const { return std::uint64_t{8} * (encoded.size() - header.scan_begin); }
};

std::vector<Subject> subjects() {
  using enum FencedBytes::Fence;
  std::vector<Subject> all;
  all.emplace_back(TestJpeg{.name = "grey", .components = 1, .quality = 95}, 200, 90, kAfter);
  all.emplace_back(TestJpeg{.name = "444"}, 150, 60, kBefore);
  all.emplace_back(TestJpeg{.name = "420", .horizontal = 2, .vertical = 2, .quality = 99}, 300, 70, kAfter);
  all.emplace_back(TestJpeg{.name = "422", .horizontal = 2, .optimize = false}, 301, 33, kBefore);
  all.emplace_back(TestJpeg{.name = "restarts", .vertical = 2, .restart_interval = 11}, 130, 80, kAfter);
  all.emplace_back(TestJpeg{.name = "flat", .components = 1, .quality = 1}, 200, 90, kAfter);
  return all;
}

std::int16_t any_dc(Noise& noise) { return static_cast<std::int16_t>(noise.next()); }

// Tells lies of one kind, a few of them.
void lie(EntryPoints& points, const Subject& subject, const Subject& other, Noise& noise) {
  const auto any = [&]() -> EntryPoint& { return points[noise.next() % points.size()]; };
  const auto any_bit = [&] { return (std::uint64_t{noise.next()} << 20 | noise.next()) % subject.scan_bits(); };
  switch (noise.between(0, 13)) {
    case 0: any().bit ^= std::uint64_t{1} << noise.between(0, 13); break;
    case 1: any().bit = any_bit(); break;
    case 2: any().bit = ~std::uint64_t{0} - static_cast<std::uint64_t>(noise.between(0, 100)); break;
    case 3: any().bit = subject.scan_bits() - static_cast<std::uint64_t>(noise.between(0, 40)); break;
    case 4: any().dc[noise.next() % 3] = any_dc(noise); break;
    case 5: ++any().dc[noise.next() % 3]; break;
    case 6: std::swap(any(), any()); break;
    case 7: std::reverse(points.begin(), points.end()); break;
    case 8: points.erase(points.begin() + noise.between(0, static_cast<int>(points.size()) - 1)); break;
    case 9: points.insert(points.begin() + noise.between(0, static_cast<int>(points.size())), any()); break;
    case 10: points = other.points; break;
    case 11:
      for (EntryPoint& point : points) point.bit += 1U << noise.between(0, 5);
      break;
    case 12: points.resize(static_cast<std::size_t>(noise.between(0, static_cast<int>(points.size()) + 5))); break;
    default:
      for (EntryPoint& point : points) point = {.bit = any_bit(), .dc = {any_dc(noise), any_dc(noise), any_dc(noise)}};
      if (noise.between(0, 1)) {
        std::sort(points.begin(), points.end(), [](const EntryPoint& a, const EntryPoint& b) { return a.bit < b.bit; });
      }
  }
}

bool equal(const EntryPoints& a, const EntryPoints& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const EntryPoint& x, const EntryPoint& y) { return x.bit == y.bit && x.dc == y.dc; });
}

class LyingEntryPointsOn : public EachSegmentWay {
 protected:
  const std::vector<Subject> subjects_ = subjects();
  JpegPlaneDecoder decoder_;
};
INSTANTIATE_TEST_SUITE_P(Isa, LyingEntryPointsOn, testing::ValuesIn(kSegmentWays), way_name);

TEST_P(LyingEntryPointsOn, NeverShowAWrongImage) {
  int refused = 0;
  for (int round = 0; round < rounds(4000); ++round) {
    Noise noise(static_cast<std::uint32_t>(round));
    const Subject& subject = subjects_[static_cast<std::size_t>(round) % subjects_.size()];
    EntryPoints points = subject.points;
    for (int lies = noise.between(1, 3); lies > 0 && !points.empty(); --lies) {
      lie(points, subject, subjects_[noise.next() % subjects_.size()], noise);
    }
    const std::optional<Planes> planes = decoder_.decode(subject.encoded, subject.header, subject.whole(), &points);
    if (planes) {
      ASSERT_EQ(planes_difference(*planes, subject.want), "") << subject.name << ", round " << round;
    } else {
      ASSERT_FALSE(equal(points, subject.points)) << subject.name << ", round " << round;
      ++refused;
    }
  }
  EXPECT_GT(refused, rounds(2000));
}

TEST_P(LyingEntryPointsOn, AreCaughtWhereThereAreTooFewOrTooMany) {
  for (const Subject& subject : subjects_) {
    for (const Rect window : {subject.whole(), Rect{0, 0, 1, 1}}) {
      EntryPoints points = subject.points;
      points.pop_back();
      EXPECT_FALSE(decoder_.decode(subject.encoded, subject.header, window, &points)) << subject.name;
      points = subject.points;
      points.push_back({.bit = subject.scan_bits() - 16, .dc = {}});
      EXPECT_FALSE(decoder_.decode(subject.encoded, subject.header, window, &points)) << subject.name;
      points.clear();
      EXPECT_FALSE(decoder_.decode(subject.encoded, subject.header, window, &points)) << subject.name;
    }
  }
}

// A window in the midst of it: whatever comes out stands in its place, and no byte outside the file is read.
TEST_P(LyingEntryPointsOn, StayWithinTheFileUnderAnyWindow) {
  for (int round = 0; round < rounds(4000); ++round) {
    Noise noise(static_cast<std::uint32_t>(round));
    const Subject& subject = subjects_[static_cast<std::size_t>(round) % subjects_.size()];
    EntryPoints points = subject.points;
    for (int lies = noise.between(1, 3); lies > 0 && !points.empty(); --lies) {
      lie(points, subject, subjects_[noise.next() % subjects_.size()], noise);
    }
    const int width = noise.between(1, subject.header.width), height = noise.between(1, subject.header.height);
    const Rect window{noise.between(0, subject.header.width - width), noise.between(0, subject.header.height - height),
                      width, height};
    const std::optional<Planes> planes = decoder_.decode(subject.encoded, subject.header, window, &points);
    ASSERT_TRUE(!planes || covers(*planes, window)) << subject.name << ", round " << round;
    // It decodes the next image as if nothing had been.
    if (round % 16 != 0) continue;
    const std::optional<Planes> again = decoder_.decode(subject.encoded, subject.header, window, &subject.points);
    ASSERT_TRUE(again) << subject.name << ", round " << round;
    ASSERT_EQ(planes_difference(*again, subject.want), "") << subject.name << ", round " << round;
  }
}

// Each point in turn, in each way, where the segment before it is decoded too.
TEST_P(LyingEntryPointsOn, AreCaughtBetweenSegmentsOfTheWindow) {
  for (const Subject& subject : subjects_) {
    const McuGrid grid(subject.header);
    const SegmentGrid segments(grid, subject.header.restart_interval);
    std::size_t number = 0;
    for (int row = 0; row < grid.down; ++row) {
      for (int column = 0, mcus = 0; column < grid.across; column += mcus, ++number) {
        mcus = segments.mcus(column, row);
        if (column == 0) continue;
        const Rect window{(column - 1) * grid.mcu_width + 3, row * grid.mcu_height + 3, grid.mcu_width, 1};
        if (window.x + window.width > subject.header.width || window.y + 2 >= subject.header.height) continue;
        const auto caught = [&](const std::function<void(EntryPoint&)>& change) {
          EntryPoints points = subject.points;
          change(points[number]);
          return !decoder_.decode(subject.encoded, subject.header, window, &points);
        };
        const std::int64_t mcu = std::int64_t{row} * grid.across + column;
        const bool interval_begins = subject.header.restart_interval > 0 && mcu % subject.header.restart_interval == 0;
        const std::string what = subject.name + ", segment " + std::to_string(number);
        for (const std::int64_t by : {-9, -8, -7, -1, 1, 2, 7, 8, 9, 64, -1000, 1000}) {
          EXPECT_TRUE(caught([by](EntryPoint& point) { point.bit += static_cast<std::uint64_t>(by); })) << what << by;
        }
        for (std::size_t c = 0; c < static_cast<std::size_t>(subject.header.component_count); ++c) {
          const auto change = [c](EntryPoint& point) { point.dc[c] = static_cast<std::int16_t>(point.dc[c] + 1); };
          // Where an interval begins they are known to be zero.
          EXPECT_EQ(caught(change), !interval_begins) << what;
        }
      }
    }
  }
}

// Not even where no marker at the end stops a copy.
TEST_P(LyingEntryPointsOn, LeadToNoByteBehindTheFile) {
  for (const Subject& subject : subjects_) {
    const std::size_t size = subject.encoded.size() - 2;
    const FencedBytes cut(size, FencedBytes::Fence::kAfter);
    std::copy_n(subject.encoded.begin(), size, cut.data());
    const std::uint64_t bits = subject.scan_bits() - 16;
    const Rect second{kSegmentMcus * McuGrid(subject.header).mcu_width + 3, 0, 1, 1};  // under the second segment
    EntryPoints points = subject.points;
    points[1].bit = bits - 8;
    for (const std::uint64_t more : {1, 8, 9, 8 * 5000, 1 << 30}) {
      points[2].bit = bits + more;
      EXPECT_FALSE(decoder_.decode({cut.data(), size}, subject.header, second, &points)) << subject.name;
    }
  }
}

// Each row would have the whole scan copied.
TEST_P(LyingEntryPointsOn, NeverTakeTheSameBytesTwice) {
  const Subject& subject = subjects_[0];
  ASSERT_EQ(subject.name, "grey");
  const McuGrid grid(subject.header);
  const std::size_t in_a_row = SegmentGrid(grid, 0).count(1);
  EntryPoints points = subject.points;
  for (std::size_t i = 0; i < points.size(); ++i) points[i].bit = i % in_a_row == 0 ? 0 : subject.scan_bits() - 16;
  EXPECT_FALSE(decoder_.decode(subject.encoded, subject.header, {0, 0, 8, subject.header.height}, &points));
}

TEST_P(LyingEntryPointsOn, OfACutSegmentsEndAreHarmless) {
  const Subject& subject = subjects_[1];
  ASSERT_EQ(subject.name, "444");
  const Rect window{0, 0, 20, 8};  // the first three MCUs of the first segment's eight
  for (const std::uint64_t bits : {0, 8, 80}) {
    EntryPoints points = subject.points;
    points[1].bit += bits;
    points[1].dc = {1, 2, 3};
    const std::optional<Planes> planes = decoder_.decode(subject.encoded, subject.header, window, &points);
    ASSERT_TRUE(planes || bits > 0);
    EXPECT_EQ(planes ? planes_difference(*planes, subject.want) : "", "");
  }
  EntryPoints points = subject.points;
  points[1].bit = 16;  // there is too little
  EXPECT_FALSE(decoder_.decode(subject.encoded, subject.header, window, &points));
}

// The first of the lies that nothing can tell, so that the comment above is known to be right.
TEST_P(LyingEntryPointsOn, MayShiftTheColoursOfAWindowThatBeginsInTheMidstOfARow) {
  const Subject& subject = subjects_[0];
  EntryPoints points = subject.points;
  for (EntryPoint& point : points) ++point.dc[0];
  EXPECT_FALSE(decoder_.decode(subject.encoded, subject.header, subject.whole(), &points));
  const std::optional<Planes> planes = decoder_.decode(subject.encoded, subject.header, {70, 8, 40, 8}, &points);
  ASSERT_TRUE(planes);
  EXPECT_NE(planes_difference(*planes, subject.want), "");
}

}  // namespace
}  // namespace stoker
