#include "stoker/plan/box_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stoker/base/error_testing.h"

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

// Of each of 65,536 pixels it is seen in which boxes it lies.
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

}  // namespace
}  // namespace stoker
