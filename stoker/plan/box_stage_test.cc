#include "stoker/plan/box_stage.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/ops/picture/warp.h"
#include "stoker/plan/reference_boxes.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

constexpr ImageSize kWide{512, 256}, kOutput{256, 256};
constexpr BoxOptions::Source kLines = BoxOptions::Source::kYolo;

/// The right half of a wide picture, through an elastic field that moves nothing.
std::vector<LabeledBox> boxes_in_field(const std::string& lines) {
  SamplingMap map = SamplingMap::identity(kWide.width, kWide.height);
  map.x.crop(kWide.width - kOutput.width, kOutput.width);
  PictureStep elastic{};
  elastic.kind = PictureKind::kElastic;
  const ImageCourse course{
      .image = kWide, .map = map, .shown = map.image_shown(), .size = kOutput, .steps = {&elastic, 1}};
  return BoxStage().run({.source = kLines, .most = 10}, as_bytes(lines), course);
}

std::string boxes_at(const std::string& middle, int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) lines += "7 " + middle + " 0.125 0.25\n";
  return lines;
}

// Each box costs a walk through the field.
TEST(BoxStage, FollowsElasticFieldsWithBoxesThatAreInView) {
  constexpr int kMany = 70'000;
  const std::vector<LabeledBox> kept = boxes_in_field(boxes_at("0.25 0.5", kMany) + boxes_at("0.75 0.5", 1));
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].left, 96);
  EXPECT_EQ(kept[0].right, 160);
  EXPECT_EQ(kept[0].top, 96);
  EXPECT_EQ(kept[0].bottom, 160);
  const Error error = error_of([&] { boxes_in_field(boxes_at("0.75 0.5", kMany)); });
  EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
  EXPECT_THAT(error.message(), HasSubstr("70000 boxes, too many to follow"));
}

PictureStep elastic_step() {
  PictureStep step{};
  step.kind = PictureKind::kElastic;
  step.key = 7;
  step.f[WarpStep::kDensity] = step.f[WarpStep::kDensity + 1] = 0.1F;
  step.f[WarpStep::kGain] = step.f[WarpStep::kGain + 1] = 0.05F;
  return step;
}

ImageCourse course_of(ImageSize size, const PictureStep& step) {
  const SamplingMap map = SamplingMap::identity(size.width, size.height);
  return {.image = size, .map = map, .shown = map.image_shown(), .size = size, .steps = {&step, 1}};
}

void expect_near(const std::vector<LabeledBox>& got, const std::vector<LabeledBox>& want, double most) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i].left, want[i].left, most) << i;
    EXPECT_NEAR(got[i].top, want[i].top, most) << i;
    EXPECT_NEAR(got[i].right, want[i].right, most) << i;
    EXPECT_NEAR(got[i].bottom, want[i].bottom, most) << i;
  }
}

std::vector<LabeledBox> reference_of(const BoxOptions& options, const std::string& lines, const ImageCourse& course) {
  std::vector<ObjectDetails> details;
  return reference_boxes(options, as_bytes(lines), course, details);
}

// The reference looks for every pixel in every box.
TEST(BoxStage, FindsInAnElasticFieldWhatIsInEveryPixel) {
  constexpr ImageSize kSize{90, 61};
  const PictureStep step = elastic_step();
  std::string lines;
  for (int i = 0; i < 60; ++i) {
    lines += fmt::format("{} {} {} {} {}\n", i, 0.1 + 0.013 * i, 0.9 - 0.012 * i, 0.05 + 0.01 * (i % 9),
                         0.04 + 0.02 * (i % 13));
  }
  const BoxOptions options{.source = kLines, .most = 100};
  BoxStage stage;
  for (int round = 0; round < 2; ++round) {  // scratch memory is used again
    const std::vector<LabeledBox> want = reference_of(options, lines, course_of(kSize, step));
    EXPECT_GT(want.size(), 40U);
    expect_near(stage.run(options, as_bytes(lines), course_of(kSize, step)), want, 0);
  }
}

TEST(FieldPlaces, LooksOnlyAtPixelsThatMayShowAPlace) {
  constexpr ImageSize kSize{512, 300};
  FieldPlaces places;
  places.find(elastic_step(), kSize, kSize);
  int all = 0, near = 0, squares = 0;
  places.visit([](const auto&) { return true; }, [&](int, int, double, double) { ++all; });
  EXPECT_GT(all, 512 * 300 * 8 / 10);
  const auto may_show = [&](const FieldPlaces::Square& square) {
    ++squares;
    return square.left <= 200 && square.right >= 200 && square.top <= 100 && square.bottom >= 100;
  };
  places.visit(may_show, [&](int, int, double, double) { ++near; });
  EXPECT_GT(near, 0);
  EXPECT_LT(near, 4000) << "of 153,600 pixels";
  EXPECT_LT(squares, 1000);
}

/// The extent of what an output shows of a box, found at 10 x 10 places of each pixel.
LabeledBox extent_seen(const PlaneMap& map, const LabeledBox& box, ImageSize size) {
  constexpr double kStep = 0.1;
  LabeledBox seen{1e9, 1e9, -1e9, -1e9};
  const auto& m = map.m;
  for (double y = kStep / 2; y < size.height; y += kStep) {
    for (double x = kStep / 2; x < size.width; x += kStep) {
      const double u = x - 0.5, v = y - 0.5, divisor = m[6] * u + m[7] * v + m[8];
      const double from_x = (m[0] * u + m[1] * v + m[2]) / divisor + 0.5;
      const double from_y = (m[3] * u + m[4] * v + m[5]) / divisor + 0.5;
      if (from_x < box.left || from_x >= box.right || from_y < box.top || from_y >= box.bottom) continue;
      seen = {std::min(seen.left, x), std::min(seen.top, y), std::max(seen.right, x), std::max(seen.bottom, y)};
    }
  }
  return seen;
}

// The horizon stands at x = 50 of the output, and what is seen there on either side lies in the boxes.
TEST(BoxStage, ShowsBoxesOnBothSidesOfAHorizon) {
  constexpr ImageSize kSquare{100, 100};
  const PlaneMap map{{-0.95, 0, 50, -1, 0.5, 25, -0.02, 0, 1}};
  PictureStep step{};
  step.kind = PictureKind::kWarp;
  store_map(map, step);
  const std::string lines = "0 0.5 0.5 1 1\n1 0.5 0.4 0.8 0.4\n2 0.5 0.5 0.08 0.08\n";
  const LabeledBox boxes[] = {{0, 0, 100, 100}, {10, 20, 90, 60}, {46, 46, 54, 54}};
  std::vector<LabeledBox> want;
  for (const LabeledBox& box : boxes) want.push_back(extent_seen(map_of(step), box, kSquare));
  EXPECT_LT(want[0].left, 1);
  EXPECT_GT(want[0].right, 99) << "beyond the horizon";
  const BoxOptions options{.source = kLines, .most = 10};
  expect_near(BoxStage().run(options, as_bytes(lines), course_of(kSquare, step)), want, 0.2);
  expect_near(reference_of(options, lines, course_of(kSquare, step)), want, 0.2);
  for (const double share : {0.3, 0.5, 0.7, 0.9}) {
    const BoxOptions visible{.source = kLines, .visible_min = share, .most = 10};
    const auto kept = BoxStage().run(visible, as_bytes(lines), course_of(kSquare, step));
    EXPECT_EQ(kept.size(), reference_of(visible, lines, course_of(kSquare, step)).size()) << share;
  }
}

}  // namespace
}  // namespace stoker
