// Whether a scan is sound: then libjpeg finds no fault in it either, and every segment decodes by itself.
#include "stoker/codec/jpeg/scan_walker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "stoker/base/error.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/jpeg/coded_jpeg_testing.h"
#include "stoker/codec/jpeg/files_testing.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_decoder.h"
#include "stoker/codec/jpeg/markers.h"
#include "stoker/codec/jpeg/plane_decoder.h"
#include "stoker/codec/jpeg/scan_walker_testing.h"
#include "stoker/tensor/planes_testing.h"

namespace stoker {
namespace {

using File = std::vector<std::uint8_t>;

Rect whole(const JpegHeader& header) { return {0, 0, header.width, header.height}; }

// Files for the own decoder, of every sampling.
std::vector<TestJpeg> own_kinds() {
  std::vector<TestJpeg> kinds;
  for (const TestJpeg& kind : test_jpeg_kinds()) {
    if (parse_jpeg_header(encode_test_jpeg(kind, make_test_image(8, 8, kind.components)))) kinds.push_back(kind);
  }
  return kinds;
}

bool finds_entry_points(const File& file) {
  static JpegPlaneDecoder decoder;
  EntryPoints points;
  return decoder.find_entry_points(file, parse_jpeg_header(file).value(), points);
}

// What follows the header; the end of the image is added.
File with_scan(const CodedJpeg& jpeg, const File& scan) {
  File file = jpeg.write();
  file.resize(parse_jpeg_header(file)->scan_begin);
  file.insert(file.end(), scan.begin(), scan.end());
  file.insert(file.end(), {0xFF, 0xD9});
  return file;
}

// Symbols of even_code: a DC difference of no bits, and AC symbols with a value of one bit or none.
class SymbolWriter {
 public:
  SymbolWriter& dc() { return put(0, 5); }
  SymbolWriter& ac(std::uint32_t symbol) { return put(symbol, 8), symbol % 16 == 0 ? *this : put(1, 1); }
  SymbolWriter& end_of_block() { return ac(0); }
  SymbolWriter& put(std::uint32_t value, int bits) {
    writer_.put(value, bits);
    return *this;
  }
  File take() {
    writer_.fill_byte();
    return scan_;
  }
  File file(const CodedJpeg& jpeg) { return with_scan(jpeg, take()); }

 private:
  File scan_;
  ScanBitWriter writer_{scan_};
};

CodedJpeg grey(int width, int height) {
  CodedJpeg jpeg{.width = width, .height = height};
  jpeg.quantization.fill(1);
  return jpeg;
}

constexpr std::uint32_t kRun15 = 0xF1, kSixteenZeros = 0xF0;

TEST(ScanWalker, AcceptsBlocksThatEndInEveryWay) {
  // By an end of block; with a value at the last place; with sixteen zeros up to there.
  SymbolWriter symbols;
  symbols.dc().end_of_block();
  symbols.dc().ac(kRun15).ac(kRun15).ac(kRun15).ac(0xE1);
  symbols.dc().ac(0xE1).ac(kSixteenZeros).ac(kSixteenZeros).ac(kSixteenZeros);
  const File file = symbols.file(grey(24, 8));
  EXPECT_TRUE(finds_entry_points(file));
  std::vector<std::uint8_t> entry_points;
  EXPECT_TRUE(LibjpegDecoder().decodes_cleanly(file, parse_jpeg_header(file)->facts(), entry_points));
}

TEST(ScanWalker, RefusesARunThatLeavesItsBlock) {
  for (const std::uint32_t last : {kRun15, kSixteenZeros}) {
    // The next block's first symbol would be in the wrong place: one that the same bits would bring to its end.
    SymbolWriter symbols;
    symbols.dc().ac(kRun15).ac(kRun15).ac(kRun15).ac(last).end_of_block();
    const File file = symbols.file(grey(16, 8));
    EXPECT_FALSE(finds_entry_points(file));
    // Nor do segments go astray that are decoded without a walk.
    const EntryPoints points(1);
    const JpegHeader header = parse_jpeg_header(file).value();
    EXPECT_FALSE(JpegPlaneDecoder().decode(file, header, whole(header), &points));
  }
}

// The same in so many segments that the widest decoder takes them.
TEST(ScanWalker, RefusesRunsThatLeaveTheirBlocksInManySegmentsAtOnce) {
  for (const bool leave : {false, true}) {
    constexpr int kSegments = 64;
    CodedJpeg jpeg = grey(16, 8 * kSegments);
    jpeg.restart_interval = 2;
    File scan;
    EntryPoints points;
    for (int i = 0; i < kSegments; ++i) {
      if (i > 0) scan.insert(scan.end(), {0xFF, static_cast<std::uint8_t>(0xD0 + (i - 1) % 8)});
      points.push_back({.bit = 8 * scan.size(), .dc = {}});
      SymbolWriter symbols;
      symbols.dc().ac(kRun15).ac(kRun15).ac(kRun15).ac(leave ? kRun15 : 0xE1);
      if (!leave) symbols.dc();
      symbols.end_of_block();
      const File segment = symbols.take();
      scan.insert(scan.end(), segment.begin(), segment.end());
    }
    const File file = with_scan(jpeg, scan);
    const JpegHeader header = parse_jpeg_header(file).value();
    EXPECT_EQ(JpegPlaneDecoder().decode(file, header, whole(header), &points).has_value(), !leave);
  }
}

TEST(ScanWalker, RefusesWhatIsLeftOver) {
  const auto file = [](int blocks) {
    SymbolWriter symbols;
    for (int i = 0; i < blocks; ++i) symbols.dc().end_of_block();
    return symbols.file(grey(24, 8));
  };
  EXPECT_FALSE(finds_entry_points(file(2)));
  EXPECT_TRUE(finds_entry_points(file(3)));
  EXPECT_FALSE(finds_entry_points(file(4)));
}

TEST(ScanWalker, RefusesBitsThatAreNoCode) {
  EXPECT_FALSE(finds_entry_points(SymbolWriter().put(0xFFFF, 16).file(grey(8, 8))));
  EXPECT_FALSE(finds_entry_points(SymbolWriter().dc().put(0xFFFF, 16).file(grey(8, 8))));
}

TEST(ScanWalker, RefusesDcValuesThatLeaveSixteenBits) {
  for (const int last : {0, 1}) {
    CodedJpeg jpeg = grey(24, 8);
    jpeg.blocks.resize(3);
    jpeg.blocks[0][0] = -16384;
    jpeg.blocks[1][0] = -32768;
    jpeg.blocks[2][0] = -32768 - last;
    EXPECT_EQ(finds_entry_points(jpeg.write()), last == 0);
  }
}

TEST(ScanWalker, RefusesRestartsThatAreTooFewOrTooMany) {
  for (const int intervals : {1, 2, 3, 4, 5}) {
    File scan;
    for (int i = 0; i < intervals; ++i) {
      ScanBitWriter writer(scan);
      if (i > 0) scan.insert(scan.end(), {0xFF, static_cast<std::uint8_t>(0xD0 + i - 1)});
      writer.put(0, 5 + 8);  // a block
      writer.fill_byte();
    }
    CodedJpeg jpeg = grey(24, 8);
    jpeg.restart_interval = 1;
    EXPECT_EQ(finds_entry_points(with_scan(jpeg, scan)), intervals == 3) << intervals;
  }
}

// An interval that ends too early does not go on after the marker, also where a window ends with it.
TEST(ScanWalker, RefusesAnIntervalThatEndsInAWindowsLastBlock) {
  CodedJpeg jpeg = grey(8, 16);
  jpeg.restart_interval = 1;
  // The first block lacks the last bits of its end; the second begins with such bits.
  const File file = with_scan(jpeg, {0, 0xFF, 0xD0, 0, 0x07});
  const JpegHeader header = parse_jpeg_header(file).value();
  EXPECT_FALSE(JpegPlaneDecoder().decode(file, header, {0, 0, 8, 8}));
  const File good = with_scan(jpeg, {0, 0x07, 0xFF, 0xD0, 0, 0x07});
  EXPECT_TRUE(JpegPlaneDecoder().decode(good, header, {0, 0, 8, 8}));
}

TEST(ScanWalker, RefusesEveryTruncation) {
  for (const TestJpeg& kind : own_kinds()) {
    const File file = encode_test_jpeg(kind, make_test_image(33, 21, kind.components));
    ASSERT_TRUE(finds_entry_points(file));
    for (std::size_t size = parse_jpeg_header(file)->scan_begin; size < file.size() - 2; ++size) {
      File cut = first_bytes_of(file, size);
      ASSERT_FALSE(finds_entry_points(cut)) << kind.name << " cut at " << size;
      cut.insert(cut.end(), {0xFF, 0xD9});
      ASSERT_FALSE(finds_entry_points(cut)) << kind.name << " ended at " << size;
    }
  }
}

// Libjpeg decodes without a warning what is sound, and what is shown of the rest, up to where the fault is, is what
// libjpeg shows.
TEST(ScanWalker, FindsSoundOnlyWhatLibjpegDecodesWithoutAWarning) {
  const std::vector<TestJpeg> kinds = own_kinds();
  JpegPlaneDecoder decoder;
  LibjpegDecoder library;
  int sound = 0, in_part = 0, refused = 0;
  for (unsigned seed = 0; seed < rounds(2000U); ++seed) {
    std::mt19937 random(seed);
    TestJpeg kind = kinds[seed % kinds.size()];
    kind.quality = 20 + static_cast<int>(random() % 80);
    const File file = encode_test_jpeg(kind, make_test_image(61, 45, kind.components, seed % 7));
    const std::size_t scan_begin = parse_jpeg_header(file)->scan_begin;
    const File broken = damaged(file, seed % 4 == 0 ? 3 : scan_begin, random);
    const std::optional<JpegHeader> header = parse_jpeg_header(broken);
    if (!header || header->width > 200 || header->height > 200) continue;
    const std::string what = kind.name + ", seed " + std::to_string(seed);
    EntryPoints points;
    const bool is_sound = decoder.find_entry_points(broken, *header, points);
    sound += is_sound;
    if (is_sound) {
      std::vector<std::uint8_t> entry_points;
      ASSERT_TRUE(library.decodes_cleanly(broken, header->facts(), entry_points)) << what;
    }
    if (!has_jpeg_end(broken, header->scan_begin)) continue;
    if (libjpeg_gives_up(broken)) {
      ASSERT_FALSE(is_sound || decoder.decode(broken, *header, {0, 0, 1, 1})) << what;
      continue;
    }
    const Planes want = library.decode_planes(broken, header->facts(), whole(*header));
    const EntryPoints* const ways[] = {nullptr, is_sound ? &points : nullptr};
    for (const EntryPoints* by : ways) {
      for (int row = 0; row < 3; ++row) {
        const Rect window{header->width / 4, row * header->height / 3, header->width / 2, header->height / 3};
        if (window.width == 0 || window.height == 0) continue;
        const std::optional<Planes> planes = decoder.decode(broken, *header, window, by);
        ASSERT_TRUE(planes || !is_sound) << what;
        ++(planes ? in_part : refused);
        if (!planes || !kLibjpegOverflowsAsDefined) continue;
        ASSERT_EQ(planes_difference(*planes, want), "") << what;
      }
    }
  }
  EXPECT_GT(sound, 50);
  EXPECT_GT(in_part, 500);
  EXPECT_GT(refused, 500);
}

void expect_walk_like_the_plain_one(const File& file, const std::string& what, int& sound) {
  static WalkComparison comparison;
  const std::optional<JpegHeader> header = parse_jpeg_header(file);
  if (!header) return;
  for (const int rows : {McuGrid(*header).down, divide_up(McuGrid(*header).down, 2), 1}) {
    for (const WalkStretch& stretch :
         {WalkStretch{}, {.shortest = 24, .longest = 24}, {.shortest = 100, .longest = 600}}) {
      bool is_sound = false;
      ASSERT_EQ(comparison.difference(file, *header, rows, stretch, is_sound), "")
          << what << ", rows: " << rows << ", stretches of " << stretch.shortest << " to " << stretch.longest;
      sound += is_sound;
    }
  }
}

// Scans that are long enough for several walkers, also for more than one stretch of each; sound and damaged.
TEST(ScanWalker, FindsInStretchesWhatItFindsSymbolBySymbol) {
  const std::vector<TestJpeg> kinds = own_kinds();
  int sound = 0, broken = 0;
  for (unsigned seed = 0; seed < rounds(120U); ++seed) {
    std::mt19937 random(seed);
    TestJpeg kind = kinds[seed % kinds.size()];
    kind.quality = 30 + static_cast<int>(random() % 71);
    const auto side = [&] { return 40 + static_cast<int>(random() % (seed % 8 == 0 ? 800 : 300)); };
    const int width = side(), height = side();
    const File file = encode_test_jpeg(kind, make_test_image(width, height, kind.components, seed));
    const std::string what = kind.name + ", seed " + std::to_string(seed);
    expect_walk_like_the_plain_one(file, what, sound);
    for (int damage = 0; damage < 4; ++damage) {
      expect_walk_like_the_plain_one(damaged(file, parse_jpeg_header(file)->scan_begin, random), what, broken);
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(sound, static_cast<int>(9 * rounds(120U)));
  EXPECT_GT(broken, static_cast<int>(3 * rounds(120U)));
}

// Coefficients that no photograph has: blocks of the fewest and of the most bits, with ends and without, in which
// walkers that begin anywhere do not find their way or see faults where there are none.
TEST(ScanWalker, FindsItsWayThroughBlocksOfAnyKind) {
  int sound = 0;
  for (unsigned seed = 0; seed < rounds(60U); ++seed) {
    std::mt19937 random(seed);
    CodedJpeg jpeg{.width = 400, .height = 256, .components = seed % 2 ? 3 : 1};
    jpeg.quantization.fill(1);
    if (seed % 3 == 0) jpeg.restart_interval = 1 + static_cast<int>(random() % 700);
    jpeg.blocks.resize(static_cast<std::size_t>(jpeg.block_count()));
    const unsigned values = 1 + random() % 63;
    const int bits = 1 + static_cast<int>(random() % 15);
    for (std::array<int, 64>& block : jpeg.blocks) {
      const unsigned count = seed % 5 == 0 ? values : random() % (values + 1);
      for (unsigned i = 0; i < count; ++i)
        block[random() % 64] = static_cast<int>(random() % (1U << bits)) - (1 << bits) / 2;
      if (seed % 7 == 0) block[63] = 1;
    }
    expect_walk_like_the_plain_one(jpeg.write(), "seed " + std::to_string(seed), sound);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(sound, static_cast<int>(3 * rounds(60U)));
}

TEST(ScanWalker, FindsWhereEverySegmentBegins) {
  JpegPlaneDecoder decoder;
  LibjpegDecoder library;
  for (const TestJpeg& kind : own_kinds()) {
    const File file = encode_test_jpeg(kind, make_test_image(150, 40, kind.components));
    const JpegHeader header = parse_jpeg_header(file).value();
    const McuGrid grid(header);
    const SegmentGrid segments(grid, header.restart_interval);
    EntryPoints points;
    ASSERT_TRUE(decoder.find_entry_points(file, header, points)) << kind.name;
    const Planes want = library.decode_planes(file, header.facts(), whole(header));
    std::size_t count = 0;
    for (int row = 0; row < grid.down; ++row) {
      for (int column = 0; column < grid.across; ++count) {
        ASSERT_LT(count, points.size());
        const int mcus = segments.mcus(column, row);
        // What is under these MCUs and does not reach for its neighbours.
        const int beside = 2, left = column * grid.mcu_width + beside, top = row * grid.mcu_height + beside;
        const int right = std::min(header.width, (column + mcus) * grid.mcu_width - beside);
        const int bottom = std::min(header.height, (row + 1) * grid.mcu_height - beside);
        if (right > left && bottom > top) {
          // Only the entry points of this segment and the next are there.
          EntryPoints some = points;
          for (std::size_t i = 0; i < some.size(); ++i) {
            if (i != count && i != count + 1) some[i] = {.bit = ~std::uint64_t{0}, .dc = {-1, -1, -1}};
          }
          const std::optional<Planes> planes =
              decoder.decode(file, header, {left, top, right - left, bottom - top}, &some);
          ASSERT_TRUE(planes) << kind.name << ", segment " << count;
          ASSERT_EQ(planes_difference(*planes, want), "") << kind.name << ", segment " << count;
        }
        column += mcus;
      }
    }
    EXPECT_EQ(count, points.size()) << kind.name;
    EXPECT_EQ(segments.count(grid.down), count) << kind.name;
  }
}

}  // namespace
}  // namespace stoker
