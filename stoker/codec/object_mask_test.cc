#include "stoker/codec/object_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Rows of '#' and '.', each with a line break before it.
std::string drawn(const ObjectMask& mask) {
  std::string text;
  for (int y = 0; y < mask.height(); ++y) {
    text += '\n';
    for (int x = 0; x < mask.width(); ++x) {
      bool covered = false;
      for (const ObjectMask::Run& run : mask.column(x)) covered = covered || (y >= run.begin && y < run.end);
      text += covered ? '#' : '.';
    }
  }
  return text;
}

std::string enclosed(std::vector<std::vector<double>> outlines, int width = 6, int height = 5) {
  ObjectMask mask;
  mask.start(width, height);
  for (const auto& outline : outlines) mask.add_outline(outline);
  mask.finish();
  return drawn(mask);
}

std::string refusal(const auto& add) {
  ObjectMask mask;
  mask.start(6, 5);
  const Error error = error_of([&] { add(mask); });
  EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
  return error.message();
}

// Drawn by pycocotools 2.0.11.
TEST(ObjectMask, EnclosesThePixelsThatPycocotoolsTakes) {
  EXPECT_EQ(enclosed({{1, 1, 4, 1, 4, 3, 1, 3}}), R"(
......
.###..
.###..
......
......)");
  EXPECT_EQ(enclosed({{0.5, 0.5, 5.2, 1.1, 3.3, 4.7}}), R"(
......
.####.
..###.
...#..
...#..)");
  EXPECT_EQ(enclosed({{-2, 1, 9, 2, 3, 8.5, 1.5, 3}}), R"(
......
####..
.#####
..####
..####)");
}

TEST(ObjectMask, IsTheUnionOfItsOutlines) {
  EXPECT_EQ(enclosed({{0, 0, 3, 0, 3, 3, 0, 3}, {1, 1, 5, 1, 5, 4, 1, 4}, {0, 4, 1, 4, 1, 5, 0, 5}}), R"(
###...
#####.
#####.
.####.
#.....)");
  EXPECT_EQ(enclosed({{}, {1, 2}, {1, 2, 3, 4}}), enclosed({})) << "fewer than three corners enclose nothing";
}

TEST(ObjectMask, IsNothingOutsideOfTheImage) {
  EXPECT_EQ(enclosed({{-9, -9, -3, -9, -3, 90, -9, 90}, {8, 0, 20, 0, 20, 9, 8, 9}, {0, 5, 6, 5, 6, 9, 0, 9}}),
            enclosed({}));
  EXPECT_EQ(enclosed({{-1e6, -1e6, 1e6, -1e6, 1e6, 1e6, -1e6, 1e6}}, 2, 2), "\n##\n##");
}

TEST(ObjectMask, ReadsRunsDownTheColumns) {
  ObjectMask mask;
  mask.start(3, 2);
  mask.add_runs(std::vector<std::int64_t>{1, 3, 2});
  mask.finish();
  EXPECT_EQ(drawn(mask), "\n.#.\n##.");
  mask.start(3, 2);
  mask.add_runs(std::vector<std::int64_t>{0, 6});
  mask.finish();
  EXPECT_EQ(drawn(mask), "\n###\n###");
}

TEST(ObjectMask, ReadsCodedRuns) {
  EXPECT_THAT(decode_runs("6230009"), ElementsAre(6, 2, 3, 2, 3, 2, 12));
  EXPECT_THAT(decode_runs("6141O2NN6"), ElementsAre(6, 1, 4, 2, 3, 4, 1, 2, 7)) << "differences may be negative";
  EXPECT_THAT(decode_runs("oo[91"), ElementsAre(307199, 1)) << "more than five bits";
  EXPECT_THAT(decode_runs(""), ElementsAre());
  ObjectMask mask;
  mask.start(6, 5);
  mask.add_coded_runs("6230009");
  mask.finish();
  EXPECT_EQ(drawn(mask), enclosed({{1, 1, 4, 1, 4, 3, 1, 3}}));
}

TEST(ObjectMask, RefusesWhatIsNoMaskOfTheImage) {
  using Runs = std::vector<std::int64_t>;
  for (const Runs& runs : {Runs{}, Runs{29}, Runs{1, 2}, Runs{3, 26}}) {
    EXPECT_THAT(refusal([&](ObjectMask& mask) { mask.add_runs(runs); }), HasSubstr("and the image has 6 x 5"));
  }
  for (const Runs& runs : {Runs{31}, Runs{5, -1, 26}, Runs{1, std::numeric_limits<std::int64_t>::max()}}) {
    EXPECT_THAT(refusal([&](ObjectMask& mask) { mask.add_runs(runs); }), HasSubstr("do not fit into 6 x 5 pixels"));
  }
  for (const char* text : {"/", "p", "P", "6PPPPPPPP0", "O", "6230009\xff"}) {
    EXPECT_THAT(refusal([&](ObjectMask& mask) { mask.add_coded_runs(text); }), HasSubstr("damaged")) << text;
  }
  const auto outline = [](std::vector<double> corners) {
    return refusal([&](ObjectMask& mask) { mask.add_outline(corners); });
  };
  EXPECT_THAT(outline({1, 2, 3, 4, 5}), HasSubstr("a corner without y"));
  EXPECT_THAT(outline({1, 2, 3, 4, 5, 1e7}), HasSubstr("not a place near the image"));
  EXPECT_THAT(outline({1, 2, 3, 4, 5, std::numeric_limits<double>::quiet_NaN()}), HasSubstr("not a place"));
}

TEST(ObjectMask, RefusesAnOutlineWithoutEnd) {
  std::vector<double> corners;
  for (int i = 0; i < 1000; ++i) corners.insert(corners.end(), {i % 2 == 0 ? -1.0 : 6000.0, i * 0.001});
  ObjectMask mask;
  mask.start(5000, 5);
  EXPECT_THAT(error_of([&] { mask.add_outline(corners); }).message(), HasSubstr("too long"));
}

TEST(ObjectMask, CountsTheCrossingsOfAllObjectsOfASample) {
  constexpr int kWidth = 50'000;
  const std::vector<double> outline = {0, 0, kWidth, 0, kWidth, 5, 0, 5};
  const std::vector<std::int64_t> runs = {0, std::int64_t{5} * kWidth};
  ObjectMask mask;
  // How many objects are as much as a sample may have.
  const auto count = [&](const auto& add) {
    mask.start_sample();
    for (std::size_t objects = 0;; ++objects) {
      mask.start(kWidth, 5);
      const std::optional<std::string> refusal = fault_of_data([&] { add(); });
      if (!refusal) continue;
      EXPECT_THAT(*refusal, HasSubstr("of its objects are too long"));
      return objects;
    }
  };
  EXPECT_EQ(count([&] { mask.add_outline(outline); }), ObjectMask::kCrossingsOfSampleMax / (2 * kWidth));
  EXPECT_EQ(count([&] { mask.add_runs(runs); }), ObjectMask::kCrossingsOfSampleMax / kWidth);
}

}  // namespace
}  // namespace stoker
