#include "stoker/codec/jpeg/header.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "stoker/base/error.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/jpeg/coded_jpeg_testing.h"
#include "stoker/codec/jpeg/files_testing.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_decoder.h"
#include "stoker/codec/jpeg/markers.h"

namespace stoker {
namespace {

using File = std::vector<std::uint8_t>;

File small_file(int components = 3) {
  CodedJpeg jpeg{.width = 20, .height = 10, .components = components, .across = components == 3 ? 2 : 1};
  jpeg.quantization.fill(1);
  jpeg.restart_interval = 1;
  jpeg.blocks.resize(static_cast<std::size_t>(jpeg.block_count()));
  return jpeg.write();
}

// Where a segment's content begins; it stands there by the marker's number.
std::size_t content_of(const File& file, int marker, int skipped = 0) {
  for (std::size_t at = 2;; at += 2 + static_cast<std::size_t>(file.at(at + 2) << 8 | file.at(at + 3))) {
    if (file.at(at + 1) == marker && skipped-- == 0) return at + 4;
  }
}

void remove_segment(File& file, int marker) {
  const auto begin = file.begin() + static_cast<std::ptrdiff_t>(content_of(file, marker)) - 4;
  file.erase(begin, begin + 2 + (begin[2] << 8 | begin[3]));
}

void insert_after_start(File& file, const File& bytes) { file.insert(file.begin() + 2, bytes.begin(), bytes.end()); }

File jfif(std::uint8_t major) { return {0xFF, 0xE0, 0, 16, 'J', 'F', 'I', 'F', 0, major, 1, 0, 0, 1, 0, 1, 0, 0}; }
File adobe(std::uint8_t transform) {
  return {0xFF, 0xEE, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, transform};
}

constexpr int kFrame = 0xC0, kCodes = 0xC4, kScan = 0xDA, kTables = 0xDB, kInterval = 0xDD;
// In the frame's content, and in the scan's.
constexpr std::size_t kHeight = 1, kWidth = 3, kComponents = 5, kIds = 6, kFirstCode = 2;

// Nothing that is accepted here is refused by libjpeg, and it says the same about it.
void expect_that_libjpeg_agrees(const File& file, const std::string& what) {
  const std::optional<JpegHeader> header = parse_jpeg_header(file);
  if (!header) return;
  LibjpegDecoder library;
  if (!has_jpeg_end(file, header->scan_begin)) {
    EXPECT_THROW(library.read_facts(file), Error) << what;
    return;
  }
  try {
    const ImageFacts facts = library.read_facts(file);
    EXPECT_EQ(header->facts(), facts) << what;
    const Planes own = header->plane_sizes(), want = library.plane_sizes(file, facts);
    ASSERT_EQ(own.count, want.count) << what;
    for (std::size_t c = 0; c < static_cast<std::size_t>(own.count); ++c) {
      EXPECT_EQ(own.plane[c].whole_width, want.plane[c].whole_width) << what;
      EXPECT_EQ(own.plane[c].whole_height, want.plane[c].whole_height) << what;
    }
  } catch (const Error& error) {
    ADD_FAILURE() << what << ": " << error.message();
  }
}

TEST(JpegHeader, SaysWhatStandsBeforeTheScan) {
  const File file = small_file();
  const std::optional<JpegHeader> header = parse_jpeg_header(file);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->width, 20);
  EXPECT_EQ(header->height, 10);
  EXPECT_EQ(header->component_count, 3);
  EXPECT_EQ(header->components[0].across, 2);
  EXPECT_EQ(header->components[0].down, 1);
  EXPECT_EQ(header->restart_interval, 1);
  EXPECT_EQ(header->ac_codes[0], even_code(256));
  EXPECT_EQ(header->scan_begin, content_of(file, kScan) + 10);
  expect_that_libjpeg_agrees(file, "a small file");
}

struct Change {
  const char* name;
  std::function<void(File&)> make;
};

// Sets one byte of the first segment of a marker.
Change set(const char* name, int marker, std::size_t at, int value) {
  return {name, [=](File& file) { file[content_of(file, marker) + at] = static_cast<std::uint8_t>(value); }};
}
// Sets a number of two bytes in the frame.
Change set_word(const char* name, std::size_t at, int value) {
  return {name, [=](File& file) {
            file[content_of(file, kFrame) + at] = static_cast<std::uint8_t>(value >> 8);
            file[content_of(file, kFrame) + at + 1] = static_cast<std::uint8_t>(value);
          }};
}
Change insert(const char* name, File bytes) {
  return {name, [bytes = std::move(bytes)](File& file) { insert_after_start(file, bytes); }};
}
Change remove(const char* name, int marker) {
  return {name, [=](File& file) { remove_segment(file, marker); }};
}

TEST(JpegHeader, RefusesWhatIsNotForTheOwnDecoder) {
  const File copy_of_frame = [] {
    const File file = small_file();
    const auto at = file.begin() + static_cast<std::ptrdiff_t>(content_of(file, kFrame)) - 4;
    return File(at, at + 19);
  }();
  const Change changes[] = {
      {"nothing", [](File& file) { file.clear(); }},
      {"no start of image", [](File& file) { file[1] = 0xD9; }},
      {"something between segments", [](File& file) { insert_after_start(file, {0}); }},
      insert("a second start of image", {0xFF, 0xD8}),
      insert("a marker that stands alone", {0xFF, 0x01}),
      insert("a restart marker", {0xFF, 0xD0}),
      insert("an end of image", {0xFF, 0xD9}),
      insert("arithmetic conditioning", {0xFF, 0xCC, 0, 4, 0, 0}),
      insert("a number of lines", {0xFF, 0xDC, 0, 4, 0, 1}),
      insert("a hierarchical progression", {0xFF, 0xDE, 0, 4, 0, 1}),
      insert("a length that leaves out itself", {0xFF, 0xFE, 0, 1}),
      insert("a second frame", copy_of_frame),
      set("twelve bits", kFrame, 0, 12),
      set_word("no height", kHeight, 0),
      set_word("no width", kWidth, 0),
      set_word("too high", kHeight, 65'501),
      set_word("too wide", kWidth, 65'501),
      set("two components", kFrame, kComponents, 2),
      set("four components", kFrame, kComponents, 4),
      set("more components than there is room for", kFrame, kComponents, 255),
      set("a component twice", kFrame, kIds + 3, 1),
      set("a sampling of nothing", kFrame, kIds + 1, 0x01),
      set("a sampling that is not in use", kFrame, kIds + 1, 0x31),
      set("a sampling of five", kFrame, kIds + 1, 0x51),
      set("chroma as fine as that", kFrame, kIds + 4, 0x21),
      set("a quantization table of number four", kFrame, kIds + 2, 4),
      set("a quantization table that is not there", kFrame, kIds + 2, 1),
      set("a quantization table beyond the fourth", kTables, 0, 0x14),
      set("quantization of 24 bits", kTables, 0, 0x20),
      set("more quantization tables than there are bytes", kTables, 0, 0x00),
      remove("no quantization table", kTables),
      set("a code of a third class", kCodes, 0, 0x20),
      set("a fifth code", kCodes, 0, 0x04),
      set("more codes than fit their bits", kCodes, 1, 3),
      set("a code of ones alone", kCodes, 1, 2),
      set("a code of more symbols than there are bytes", kCodes, 16, 1),
      set("a DC difference of 16 bits", kCodes, 17, 16),
      set("no AC code", kCodes, 0, 0x01),
      remove("no codes at all", kCodes),
      insert("an interval of three bytes", {0xFF, 0xDD, 0, 5, 0, 0, 1}),
      insert("an interval of one byte", {0xFF, 0xDD, 0, 3, 1}),
      set("a scan of one component", kScan, 0, 1),
      set("components in another order", kScan, 1, 2),
      set("a fifth DC code in use", kScan, kFirstCode, 0x40),
      set("a fifth AC code in use", kScan, kFirstCode, 0x04),
      set("a code in use that is not there", kScan, kFirstCode, 0x11),
      set("a first coefficient other than DC", kScan, 7, 1),
      set("fewer coefficients", kScan, 8, 62),
      set("successive approximation", kScan, 9, 1),
      insert("JFIF of a second version", jfif(2)),
      insert("RGB by Adobe's segment", adobe(0)),
      insert("YCCK by Adobe's segment", adobe(2)),
      {"components called RGB",
       [](File& file) {
         for (std::size_t c = 0; c < 3; ++c) {
           const auto letter = static_cast<std::uint8_t>("RGB"[c]);
           file[content_of(file, kFrame) + kIds + 3 * c] = file[content_of(file, kScan) + 1 + 2 * c] = letter;
         }
       }},
  };
  for (const Change& change : changes) {
    File file = small_file();
    ASSERT_TRUE(parse_jpeg_header(file));
    change.make(file);
    EXPECT_FALSE(parse_jpeg_header(file)) << change.name;
  }
  for (const int frame : {0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF}) {
    File file = small_file();
    file[content_of(file, kFrame) - 3] = static_cast<std::uint8_t>(frame);
    EXPECT_FALSE(parse_jpeg_header(file)) << "frame " << frame;
  }
  for (const int sampling : {0x00, 0x10, 0x05, 0x50}) {
    File file = small_file(1);
    file[content_of(file, kFrame) + kIds + 1] = static_cast<std::uint8_t>(sampling);
    EXPECT_FALSE(parse_jpeg_header(file)) << "grey, sampling " << sampling;
  }
}

TEST(JpegHeader, AcceptsWhatOnlyLooksUnusual) {
  const Change changes[] = {
      insert("filling before a marker", {0xFF, 0xFF, 0xFF}),
      insert("a comment", {0xFF, 0xFE, 0, 5, 1, 2, 3}),
      insert("an empty comment", {0xFF, 0xFE, 0, 2}),
      insert("a segment of an application", {0xFF, 0xE5, 0, 3, 0xFF}),
      insert("JFIF too short to count", {0xFF, 0xE0, 0, 8, 'J', 'F', 'I', 'F', 0, 9}),
      insert("JFIF", jfif(1)),
      insert("YCbCr by Adobe's segment", adobe(1)),
      {"JFIF, which outdoes Adobe",
       [](File& file) {
         insert_after_start(file, adobe(0));
         insert_after_start(file, jfif(1));
       }},
      insert("a table that is defined again later", {0xFF, 0xDD, 0, 4, 1, 1}),
      {"an extended frame", [](File& file) { file[content_of(file, kFrame) - 3] = 0xC1; }},
      {"no restarts", [](File& file) { remove_segment(file, kInterval); }},
  };
  for (const Change& change : changes) {
    File file = small_file();
    change.make(file);
    EXPECT_TRUE(parse_jpeg_header(file)) << change.name;
    expect_that_libjpeg_agrees(file, change.name);
  }
  for (const int sampling : {0x11, 0x22, 0x41, 0x14, 0x33}) {
    File file = small_file(1);
    file[content_of(file, kFrame) + kIds + 1] = static_cast<std::uint8_t>(sampling);
    const std::optional<JpegHeader> header = parse_jpeg_header(file);
    ASSERT_TRUE(header) << "grey, sampling " << sampling;
    EXPECT_EQ(header->across_max(), 1);
    expect_that_libjpeg_agrees(file, "grey");
  }
}

TEST(JpegHeader, ReadsTheOrientation) {
  File file = small_file();
  insert_after_start(file, {0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8,
                            0,    1,    1, 18, 0,   3,   0,   0,   0, 1, 0,   6,   0, 0,  0, 0, 0, 0});
  EXPECT_EQ(parse_jpeg_header(file)->orientation, 6);
  expect_that_libjpeg_agrees(file, "turned");
}

TEST(JpegHeader, AcceptsNothingThatLibjpegRefuses) {
  std::vector<std::string> accepted;
  std::uint32_t seed = 0;
  for (const TestJpeg& kind : test_jpeg_kinds()) {
    const File file = encode_test_jpeg(kind, make_test_image(23, 18, kind.components));
    if (parse_jpeg_header(file)) accepted.push_back(kind.name);
    expect_that_libjpeg_agrees(file, kind.name);
    const std::uint8_t scan[] = {0xFF, 0xDA};
    const auto end = std::search(file.begin(), file.end(), std::begin(scan), std::end(scan)) + 14;
    const File header(file.begin(), end);
    for (int i = 0; i < rounds(300); ++i) {
      std::mt19937 random(++seed);
      File broken = damaged(header, 2, random);
      broken.insert(broken.end(), end, file.end());
      expect_that_libjpeg_agrees(broken, kind.name + ", seed " + std::to_string(seed));
    }
  }
  // All that is sequential, of one scan, of one block of chroma in an MCU.
  EXPECT_EQ(accepted,
            (std::vector<std::string>{
                "444",         "444Standard",    "444Restarts", "444RestartRows", "422",           "422Standard",
                "422Restarts", "422RestartRows", "420",         "420Standard",    "420Restarts",   "420RestartRows",
                "440",         "440Standard",    "440Restarts", "440RestartRows", "411",           "411Standard",
                "411Restarts", "411RestartRows", "Grey",        "GreyRestarts",   "GreyFactors22", "GreyFactors12"}));
}

TEST(JpegHeader, AcceptsNoTruncationThatLibjpegRefuses) {
  for (const int components : {1, 3}) {
    const File file = small_file(components);
    int accepted = 0;
    for (std::size_t size = 0; size <= file.size(); ++size) {
      File cut = first_bytes_of(file, size);
      accepted += parse_jpeg_header(cut).has_value();
      expect_that_libjpeg_agrees(cut, "cut at " + std::to_string(size));
      cut.insert(cut.end(), {0xFF, 0xD9});
      expect_that_libjpeg_agrees(cut, "ended at " + std::to_string(size));
    }
    EXPECT_EQ(static_cast<std::size_t>(accepted), file.size() + 1 - parse_jpeg_header(file)->scan_begin);
  }
}

}  // namespace
}  // namespace stoker
