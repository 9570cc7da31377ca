#include "stoker/function/python/function_introduction.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace stoker {
namespace {

using Json = nlohmann::json;

TEST(FunctionIntroduction, SaysWhatNoArrayTellsOfItself) {
  const FunctionSpec spec = {.name = "f",
                             .python = "m:f",
                             .takes = {{"image", "a"}, {"boxes", "b"}},
                             .gives = {{"image", DType::kU8, {4, 5, 3}}},
                             .values = ValueForm::kTorchvision};
  const ValueMeaning image = {.kind = ValueKind::kImage, .layout = Layout::kNchw};
  const ValueMeaning beside = {.kind = ValueKind::kBoxes, .box_form = "xywh", .image = 0};
  const ValueMeaning alone = {.kind = ValueKind::kBoxes, .box_form = "xywh", .canvas = {4, 5}};
  const Json said = introduction_of(spec, {image, beside});
  EXPECT_EQ(said["values"], "torchvision");
  EXPECT_EQ(said["gives"], Json::parse(R"([{"name": "image", "dtype": "u8", "shape": [4, 5, 3], "ragged": false}])"));
  EXPECT_EQ(said["takes"][0]["kind"], "image");
  EXPECT_EQ(said["takes"][0]["layout"], "nchw");
  EXPECT_EQ(said["takes"][1], Json::parse(R"({"view": "boxes", "parameter": "b", "kind": "boxes", "layout": "nhwc",
                                              "form": "xywh", "image": 0, "canvas": []})"));
  const Json lone = introduction_of(spec, {image, alone})["takes"][1];
  EXPECT_TRUE(lone["image"].is_null());
  EXPECT_EQ(lone["canvas"], Json::parse("[4, 5]"));
}

}  // namespace
}  // namespace stoker
