// Whether a JPEG is bad is a property of its bytes: every way of decoding it, all of it or a part, gives one answer,
// which is libjpeg's of the whole file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/jpeg/files_testing.h"
#include "stoker/codec/jpeg/jpeg_decoder.h"
#include "stoker/codec/plain_decode.h"

namespace stoker {
namespace {

using File = std::vector<std::uint8_t>;

// Files as they are met, by their coding: what markers mean in a scan depends on it.
std::vector<TestJpeg> kinds() {
  return {
      {.name = "444"},
      {.name = "420", .horizontal = 2, .vertical = 2},
      {.name = "grey", .components = 1},
      {.name = "restarts", .horizontal = 2, .vertical = 2, .restart_interval = 2},
      {.name = "restart rows", .horizontal = 2, .restart_rows = 1},
      {.name = "progressive", .horizontal = 2, .vertical = 2, .progressive = true},
      {.name = "progressive restarts", .progressive = true, .restart_interval = 3},
      {.name = "arithmetic", .horizontal = 2, .vertical = 2, .arithmetic = true},
      {.name = "arithmetic restarts", .arithmetic = true, .restart_interval = 3},
      {.name = "scans", .horizontal = 2, .vertical = 2, .non_interleaved = true},
      {.name = "cmyk", .components = 4},
      {.name = "ycck", .components = 4, .horizontal = 2, .vertical = 2, .ycck = true},
      {.name = "rgb", .rgb = true},
      {.name = "odd sampling", .horizontal = 2, .vertical = 4},
  };
}

bool is_bad(const std::function<void()>& decode) {
  try {
    decode();
    return false;
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::kBadSample || error.kind() == ErrorKind::kLimit) << error.message();
    return true;
  }
}

class BadJpegFiles : public testing::Test {
 protected:
  /// All ways, and what they say where it is not what the whole file says. Nothing if all of them agree.
  std::string dissent(const File& file) {
    const bool bad = libjpeg_gives_up(file);
    bad_ += bad;
    ++files_;
    std::string found;
    const auto way = [&](std::string_view name, const std::function<void()>& decode) {
      if (is_bad(decode) != bad) found += fmt::format("{} says {}; ", name, bad ? "good" : "bad");
    };
    ImageFacts facts;
    if (is_bad([&] { facts = decoder_.read_facts(file); })) return bad ? "" : "its header is said to be bad";
    way("plain RGB", [&] { decode_plain_rgb(file, {}); });
    way("plain planes", [&] {
      if (decode_plain_planes(file, {}).empty()) decode_plain_rgb(file, {});
    });
    File entry_points;
    way("a check", [&] { decoder_.decodes_cleanly(file, facts, entry_points); });
    const bool has_planes = decoder_.plane_sizes(file, facts).count > 0;
    for (const Rect window : {Rect{0, 0, facts.width, facts.height}, Rect{0, 0, 1, 1},
                              Rect{facts.width - 1, facts.height - 1, 1, 1}, Rect{facts.width / 2, 0, 1, 1}}) {
      way(fmt::format("RGB in {} x {}", window.width, window.height),
          [&] { decoder_.decode_rgb(file, facts, window); });
      if (!has_planes) continue;
      way(fmt::format("planes of {} x {}", window.width, window.height),
          [&] { decoder_.decode_planes(file, facts, window); });
      if (entry_points.empty()) continue;
      EXPECT_TRUE(decoder_.find_window(file, facts, window, entry_points));
      way("entry points", [&] { decoder_.decode_planes(file, facts, window, entry_points); });
    }
    if (decoder_.is_surely_good(file)) way("a look at its markers", [] {});
    return found;
  }

  AnyImageDecoder decoder_;
  int bad_ = 0, files_ = 0;
};

TEST_F(BadJpegFiles, AreBadInEveryWayOfDecodingThem) {
  for (const TestJpeg& kind : kinds()) {
    const File file = encode_test_jpeg(kind, make_test_image(61, 45, kind.components));
    ASSERT_EQ(dissent(file), "") << kind.name;
    for (unsigned seed = 0; seed < rounds(150U); ++seed) {
      std::mt19937 random(seed);
      // Mostly in the data; what damage does to sizes in a header only costs time.
      const File broken = mangled(file, seed % 16 == 0 ? 3 : file.size() / 3, random);
      ImageFacts facts;
      if (!is_bad([&] { facts = decoder_.read_facts(broken); }) && std::int64_t{facts.width} * facts.height > 20'000)
        continue;
      ASSERT_EQ(dissent(broken), "") << kind.name << ", seed " << seed;
    }
  }
  EXPECT_GT(bad_, files_ / 10);
  EXPECT_LT(bad_, files_ * 9 / 10);
}

// Every marker that there can be, in the midst of the data and right before the end.
TEST_F(BadJpegFiles, AreToldByEveryMarkerAlike) {
  for (const TestJpeg& kind : kinds()) {
    const File file = encode_test_jpeg(kind, make_test_image(40, 64, kind.components));
    for (int marker = 0; marker < 256; ++marker) {
      for (const std::size_t at : {file.size() - file.size() / 4, file.size() - 2}) {
        File broken = file;
        broken.insert(broken.begin() + static_cast<std::ptrdiff_t>(at), {0xFF, static_cast<std::uint8_t>(marker)});
        ASSERT_EQ(dissent(broken), "") << kind.name << fmt::format(", FF {:02X} at {}", marker, at);
      }
    }
  }
  EXPECT_GT(bad_, 256);
  EXPECT_GT(files_ - bad_, 256);
}

// The one that was found: a picture of which all that is decoded is sound.
TEST_F(BadJpegFiles, AreBadWhereTheWindowEndsBeforeTheFault) {
  File file = encode_test_jpeg({.name = "420", .horizontal = 2, .vertical = 2}, make_test_image(64, 64, 3));
  JpegDecoder decoder;
  const ImageFacts facts = decoder.read_facts(file);
  file.insert(file.end() - 60, {0xFF, 0x88});
  EXPECT_TRUE(is_bad([&] { decoder.decode_planes(file, facts, {0, 0, 8, 8}); }));
  EXPECT_TRUE(is_bad([&] { decoder.decode_rgb(file, facts, {0, 0, 8, 8}); }));
}

}  // namespace
}  // namespace stoker
