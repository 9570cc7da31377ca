// The decoder that takes what it can itself, against libjpeg: the result does not tell which of the two it was.
#include "stoker/codec/jpeg/jpeg_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "stoker/base/error.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/jpeg/files_testing.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_decoder.h"
#include "stoker/tensor/planes_testing.h"

namespace stoker {
namespace {

using File = std::vector<std::uint8_t>;

bool is_for_the_own_decoder(const File& file) { return parse_jpeg_header(file).has_value(); }

// What an Error says, or nothing.
template <typename Action>
std::string complaint_of(Action action) {
  try {
    action();
    return {};
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.kind())) + ": " + error.message();
  }
}

class JpegDecoderOfKind : public testing::TestWithParam<TestJpeg> {
 protected:
  JpegDecoder decoder_;
  LibjpegDecoder library_;
};
INSTANTIATE_TEST_SUITE_P(All, JpegDecoderOfKind, testing::ValuesIn(test_jpeg_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(JpegDecoderOfKind, MakesThePlanesOfLibjpeg) {
  const File file = encode_test_jpeg(GetParam(), make_test_image(83, 61, GetParam().components));
  const ImageFacts facts = decoder_.read_facts(file);
  ASSERT_EQ(facts, library_.read_facts(file));
  const Planes sizes = decoder_.plane_sizes(file, facts);
  ASSERT_EQ(sizes.count, library_.plane_sizes(file, facts).count);
  if (sizes.count == 0) return;  // it has only pixels
  const Planes want = library_.decode_planes(file, facts, {0, 0, 83, 61});
  const Rect windows[] = {{0, 0, 83, 61}, {0, 0, 1, 1}, {82, 60, 1, 1}, {17, 15, 30, 18}, {40, 33, 43, 28}};
  for (const Rect& window : windows) {
    const Planes planes = decoder_.decode_planes(file, facts, window);
    EXPECT_EQ(planes_difference(planes, want), "");
    EXPECT_TRUE(covers(planes, window));
  }
  const auto count = static_cast<std::int64_t>(std::size(windows));
  const bool own = is_for_the_own_decoder(file);
  EXPECT_EQ(decoder_.plane_decodes().own, own ? count : 0);
  EXPECT_EQ(decoder_.plane_decodes().by_library, own ? 0 : count);
}

TEST_P(JpegDecoderOfKind, SaysWhatLibjpegSaysOfDamage) {
  const File file = encode_test_jpeg(GetParam(), make_test_image(41, 35, GetParam().components));
  for (unsigned seed = 0; seed < rounds(60U); ++seed) {
    std::mt19937 random(seed);
    const File broken = damaged(file, seed % 2 == 0 ? 3 : file.size() / 2, random);
    ImageFacts facts, want_facts;
    const std::string refusal = complaint_of([&] { want_facts = library_.read_facts(broken); });
    ASSERT_EQ(complaint_of([&] { facts = decoder_.read_facts(broken); }), refusal) << "seed " << seed;
    ASSERT_EQ(facts, want_facts) << "seed " << seed;
    if (!refusal.empty() || facts.width > 200 || facts.height > 200) continue;
    const Rect whole{0, 0, facts.width, facts.height};
    bool clean = false, want_clean = false;
    std::vector<std::uint8_t> entry_points;
    ASSERT_EQ(complaint_of([&] { clean = decoder_.decodes_cleanly(broken, facts, entry_points); }),
              complaint_of([&] { want_clean = library_.decodes_cleanly(broken, facts, entry_points); }))
        << "seed " << seed;
    ASSERT_EQ(clean, want_clean) << "seed " << seed;
    if (library_.plane_sizes(broken, facts).count == 0) continue;
    Planes planes, want;
    ASSERT_EQ(complaint_of([&] { planes = decoder_.decode_planes(broken, facts, whole); }),
              complaint_of([&] { want = library_.decode_planes(broken, facts, whole); }))
        << "seed " << seed;
    if (!kLibjpegOverflowsAsDefined) continue;
    ASSERT_EQ(planes_difference(planes, want), "") << "seed " << seed;
  }
}

TEST(JpegDecoder, LeavesConcealmentToTheLibrary) {
  File file = encode_test_jpeg({.name = "420", .horizontal = 2, .vertical = 2}, make_test_image(64, 64, 3));
  JpegDecoder decoder;
  LibjpegDecoder library;
  const ImageFacts facts = decoder.read_facts(file);
  file.erase(file.end() - 60, file.end() - 2);  // the last rows
  std::vector<std::uint8_t> entry_points;
  EXPECT_FALSE(decoder.decodes_cleanly(file, facts, entry_points));
  EXPECT_TRUE(entry_points.empty());
  for (const Rect window : {Rect{0, 0, 64, 64}, Rect{0, 40, 64, 24}}) {
    const Planes planes = decoder.decode_planes(file, facts, window);
    EXPECT_EQ(planes_difference(planes, library.decode_planes(file, facts, {0, 0, 64, 64})), "");
  }
  EXPECT_EQ(decoder.plane_decodes().by_library, 2);
  decoder.decode_planes(file, facts, {0, 0, 64, 16});  // which is whole
  EXPECT_EQ(decoder.plane_decodes().own, 1);
}

TEST(JpegDecoder, RefusesAFileWithoutAnEndForEveryWindow) {
  File file = encode_test_jpeg({.name = "444"}, make_test_image(64, 64, 3));
  JpegDecoder decoder;
  const ImageFacts facts = decoder.read_facts(file);
  file.resize(file.size() - 2);
  for (const Rect window : {Rect{0, 0, 64, 64}, Rect{0, 0, 8, 8}}) {
    EXPECT_THAT(complaint_of([&] { decoder.decode_planes(file, facts, window); }),
                testing::HasSubstr("no end-of-image marker"));
  }
}

TEST(JpegDecoder, RefusesWindowsThatLeaveTheImageAndFactsOfAnother) {
  for (const bool progressive : {false, true}) {
    const File file = encode_test_jpeg({.name = "444", .progressive = progressive}, make_test_image(20, 10, 3));
    JpegDecoder decoder;
    ImageFacts facts = decoder.read_facts(file);
    for (const Rect& window : {Rect{-1, 0, 5, 5}, {16, 0, 5, 5}, {0, 6, 5, 5}, {0, 0, 0, 5}, {0, 0, 2147483647, 1}}) {
      EXPECT_THROW(decoder.decode_planes(file, facts, window), Error);
    }
    facts.width = 21;
    EXPECT_THAT(complaint_of([&] {
                  decoder.decode_planes(file, facts, {0, 0, 20, 10});
                }),
                testing::HasSubstr("20 x 10"));
  }
}

}  // namespace
}  // namespace stoker
