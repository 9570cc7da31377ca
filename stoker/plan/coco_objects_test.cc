#include "stoker/plan/coco_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stoker/base/error_testing.h"
#include "stoker/plan/box_reader.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// "BEGIN,ONE,ONE, ... ,ONE" and what ends it.
std::string many(const std::string& begin, const std::string& one, std::size_t count, const std::string& end) {
  std::string text = begin;
  for (std::size_t i = 0; i < count; ++i) text.append(i == 0 ? "" : ",").append(one);
  return text + end;
}

TEST(CocoObjects, AreNoMoreThanAPictureShows) {
  const auto list = [](std::size_t count) {
    return many("[", R"({"bbox": [0, 0, 1, 1], "category_id": 3})", count, "]");
  };
  const auto columns = [](std::size_t boxes, std::size_t classes) {
    return many(R"({"bbox": [)", "[0, 0, 1, 1]", boxes, "]") + many(R"(, "category": [)", "3", classes, "]}");
  };
  EXPECT_EQ(read_coco_objects(list(kObjectsMax), true).size(), kObjectsMax);
  EXPECT_EQ(read_coco_objects(columns(kObjectsMax, kObjectsMax), true).size(), kObjectsMax);
  for (const std::string& text : {list(kObjectsMax + 1), columns(kObjectsMax + 1, kObjectsMax + 1)}) {
    const Error error = error_of([&] { read_coco_objects(text, true); });
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    EXPECT_THAT(error.message(), HasSubstr("more than 100000 objects"));
  }
  EXPECT_THAT(error_of([&] { read_coco_objects(columns(1, kObjectsMax + 2), true); }).message(),
              HasSubstr("1 boxes in 'bbox'"));
}

TEST(CocoObjects, OfLinesAreLimitedAlike) {
  std::string lines;
  for (std::size_t i = 0; i < kObjectsMax; ++i) lines += "3 0.5 0.5 1 1\n";
  std::vector<LabeledBox> boxes;
  const BoxOptions options{.source = BoxOptions::Source::kYolo};
  read_boxes(options, as_bytes(lines), {64, 48}, boxes);
  EXPECT_EQ(boxes.size(), kObjectsMax);
  lines += "3 0.5 0.5 1 1\n";
  EXPECT_EQ(error_of([&] { read_boxes(options, as_bytes(lines), {64, 48}, boxes); }).kind(), ErrorKind::kBadSample);
}

TEST(CocoObjects, TakeNoMemberForOneWhoseNameBeginsAlike) {
  const std::string long_key(100'000, 'k');
  const std::vector<CocoObject> listed = read_coco_objects(
      R"([{"bbox_mode": [9, 9, 9, 9], "bbox": [1, 2, 3, 4], "category_id": 5, "category_ids": 6, "segmentations": 7,
           "segmentation": [[1, 1, 2, 2, 1, 2]], "keypoints": [1, 2, 2], "keypoints_count": 1, ")" +
          long_key + R"(": [1, 1, 1]}])",
      true);
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_THAT(listed[0].box, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(listed[0].label, 5);
  EXPECT_THAT(listed[0].details.outlines, ElementsAre(ElementsAre(1, 1, 2, 2, 1, 2)));
  EXPECT_THAT(listed[0].details.points, ElementsAre(1, 2, 2));
  const std::vector<CocoObject> columns = read_coco_objects(
      R"({"bbox_mode": [[9]], "bbox": [[1, 2, 3, 4]], "category_name": ["x"], "category": [5], "identity": [8], ")" +
          long_key + R"(": [1, 1, 1]})",
      false);
  ASSERT_EQ(columns.size(), 1u);
  EXPECT_THAT(columns[0].box, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(columns[0].label, 5);
  EXPECT_FALSE(columns[0].id);
}

}  // namespace
}  // namespace stoker
