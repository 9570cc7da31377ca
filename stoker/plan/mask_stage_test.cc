#include "stoker/plan/mask_stage.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/plan/instance_stage.h"

namespace stoker {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

const MaskOptions kObjects{.of_objects = true};

ImageCourse whole(ImageSize size) {
  const SamplingMap map = SamplingMap::identity(size.width, size.height);
  return {.image = size, .map = map, .shown = map.image_shown(), .size = size};
}

/// So many objects of the class 3, each of which covers the picture.
std::string covering(ImageSize size, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text +=
        fmt::format(R"({}{{"bbox": [0, 0, {}, {}], "category_id": 3, "segmentation": {{"size": [{}, {}], )"
                    R"("counts": [0, {}]}}}})",
                    i == 0 ? "[" : ", ", size.width, size.height, size.height, size.width, size.width * size.height);
  }
  return text + "]";
}

TEST(MaskStage, RefusesObjectsThatCoverTheirImageAgainAndAgain) {
  constexpr ImageSize kSize{8, 6};
  constexpr int kMost = static_cast<int>(MaskStage::kLayersMax);
  std::vector<std::uint8_t> mask(pixels_of(kSize));
  MaskStage stage;
  stage.write(kObjects, as_bytes(covering(kSize, kMost)), whole(kSize), mask);
  EXPECT_THAT(mask, Each(3));
  const Error error =
      error_of([&] { stage.write(kObjects, as_bytes(covering(kSize, kMost + 1)), whole(kSize), mask); });
  EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
  EXPECT_THAT(error.message(), HasSubstr("more than 256 times over"));
}

TEST(MaskStage, LimitsTheObjectsOfEachSampleByThemselves) {
  constexpr ImageSize kSize{50'000, 1};
  constexpr auto kColumns = static_cast<std::size_t>(kSize.width);
  const std::string one = covering(kSize, 1);
  std::vector<std::uint8_t> mask(pixels_of(kSize));
  MaskStage stage;
  InstanceStage instances;
  LabeledBox box{0, 0, kSize.width, 1};
  const std::vector<ObjectDetails> details = {read_coco_objects(one, true).front().details};
  for (std::size_t sample = 0; sample <= ObjectMask::kCrossingsOfSampleMax / kColumns; ++sample) {
    stage.write(kObjects, as_bytes(one), whole(kSize), mask);
    instances.write(InstanceSource::kShapes, {&box, 1}, details, {}, whole(kSize), mask);
  }
  EXPECT_THAT(mask, Each(1));
  const std::vector<LabeledBox> many(ObjectMask::kCrossingsOfSampleMax / kColumns + 1, box);
  std::vector<std::uint8_t> masks(many.size() * pixels_of(kSize));
  const Error error =
      error_of([&] { instances.write(InstanceSource::kShapes, many, details, {}, whole(kSize), masks); });
  EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
}

}  // namespace
}  // namespace stoker
