#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "stoker/base/error_testing.h"
#include "stoker/base/fit_testing.h"
#include "stoker/ops/geometry.h"
#include "stoker/ops/operator_table.h"

namespace stoker {
namespace {

constexpr int kWidth = 300, kHeight = 200;
constexpr ObjectBox kObjects[] = {{20, 30, 120, 90}, {200.5, 100, 260, 190}, {150, 10, 160, 15}};

Geometry iou_crop(OperatorCall call = {"iou_crop", {}}, std::vector<OperatorCall> before = {}) {
  call.args.emplace_back("size", 64.0);
  Geometry geometry;
  before.push_back(std::move(call));
  int occurrence = 0;
  for (const OperatorCall& each : before) {
    geometry.append(make_geometry_operator(check_call(each)), random_stream("image", each.name, occurrence++));
  }
  return geometry;
}

SeenImage seen(std::span<const ObjectBox> boxes = kObjects) {
  SeenImage image(kWidth, kHeight);
  image.boxes = boxes;
  return image;
}

Rect part_of(const SamplingMap& map) {
  return {map.x.clamp_begin, map.y.clamp_begin, map.x.clamp_end - map.x.clamp_begin,
          map.y.clamp_end - map.y.clamp_begin};
}

double iou_with(const Rect& part, const ObjectBox& box) {
  const double across = std::min<double>(box.right, part.x + part.width) - std::max<double>(box.left, part.x);
  const double down = std::min<double>(box.bottom, part.y + part.height) - std::max<double>(box.top, part.y);
  const double both = std::max(across, 0.0) * std::max(down, 0.0);
  return both / (double(part.width) * part.height + (box.right - box.left) * (box.bottom - box.top) - both);
}

bool holds_middle(const Rect& part, const ObjectBox& box) {
  const double x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  return x > part.x && x < part.x + part.width && y > part.y && y < part.y + part.height;
}

/// torchvision's loop, as its documentation and SSD's paper tell it, with other random numbers.
class OtherIouCrop {
 public:
  Rect draw() {
    constexpr double kOptions[] = {0, 0.1, 0.3, 0.5, 0.7, 0.9, 1};
    for (;;) {
      const double least = kOptions[std::uniform_int_distribution<int>(0, 6)(random_)];
      if (least >= 1) return {0, 0, kWidth, kHeight};
      for (int trial = 0; trial < 40; ++trial) {
        const int width = static_cast<int>(kWidth * uniform(0.3, 1)),
                  height = static_cast<int>(kHeight * uniform(0.3, 1));
        const double ratio = static_cast<double>(width) / height;
        if (ratio < 0.5 || ratio > 2) continue;
        const int x = static_cast<int>((kWidth - width) * uniform(0, 1));
        const int y = static_cast<int>((kHeight - height) * uniform(0, 1));
        double best = -1;
        for (const ObjectBox& box : kObjects) {
          if (holds_middle({x, y, width, height}, box)) best = std::max(best, iou_with({x, y, width, height}, box));
        }
        if (best >= least) return {x, y, width, height};
      }
    }
  }

 private:
  double uniform(double least, double most) { return std::uniform_real_distribution<double>(least, most)(random_); }

  std::mt19937_64 random_{5};
};

TEST(IouCrop, DrawsAsTorchvision) {
  constexpr int kDraws = 40'000;
  const Geometry geometry = iou_crop();
  OtherIouCrop other;
  std::vector<Rect> ours, theirs;
  for (int i = 0; i < kDraws; ++i) {
    ours.push_back(part_of(geometry.draw(seen(), {1, 0, static_cast<std::uint64_t>(i)})));
    theirs.push_back(other.draw());
  }
  const auto distance = [&](const auto& number_of, double factor = 1) {
    std::vector<double> our_numbers, their_numbers;
    for (const Rect& part : ours) our_numbers.push_back(factor * number_of(part));
    for (const Rect& part : theirs) their_numbers.push_back(number_of(part));
    std::sort(their_numbers.begin(), their_numbers.end());
    const auto cdf = [&](double x) {
      return static_cast<double>(std::upper_bound(their_numbers.begin(), their_numbers.end(), x) -
                                 their_numbers.begin()) /
             kDraws;
    };
    return kolmogorov_smirnov(our_numbers, cdf);
  };
  const double most = kKolmogorovSmirnovMax * std::sqrt(2.0);  // both are samples
  EXPECT_LT(distance([](const Rect& part) { return part.x; }), most);
  EXPECT_LT(distance([](const Rect& part) { return part.y; }), most);
  EXPECT_LT(distance([](const Rect& part) { return part.width; }), most);
  EXPECT_LT(distance([](const Rect& part) { return part.height; }), most);
  EXPECT_LT(distance([](const Rect& part) { return static_cast<double>(part.width) / part.height; }), most);
  EXPECT_LT(distance([](const Rect& part) { return iou_with(part, kObjects[0]); }), most);
  EXPECT_GT(distance([](const Rect& part) { return part.width; }, 1.05), most) << "the test sees a difference";
}

TEST(IouCrop, HoldsEnoughOfOneObject) {
  for (const double least : {0.1, 0.3, 0.5}) {
    const Geometry geometry = iou_crop({"iou_crop", {{"sampler_options", least}, {"trials", 1000.0}}});
    for (std::uint64_t position = 0; position < 200; ++position) {
      const Rect part = part_of(geometry.draw(seen(), {2, 0, position}));
      EXPECT_TRUE(std::any_of(std::begin(kObjects), std::end(kObjects), [&](const ObjectBox& box) {
        return holds_middle(part, box) && iou_with(part, box) >= least;
      }));
      const double ratio = static_cast<double>(part.width) / part.height;
      EXPECT_GE(ratio, 0.5);
      EXPECT_LE(ratio, 2);
    }
  }
}

TEST(IouCrop, ShowsTheWholeImageWhereNoPartWillDo) {
  const Geometry never = iou_crop({"iou_crop", {{"sampler_options", 0.5}, {"trials", 3.0}}});
  const Rect part = part_of(never.draw(seen({}), {1, 2, 3}));
  EXPECT_EQ(part.width, kWidth);
  EXPECT_EQ(part.height, kHeight);
}

TEST(IouCrop, FindsObjectsWhereEarlierOperatorsHavePutThem) {
  const std::vector<OperatorCall> before = {{"crop", {{"x", 10.0}, {"y", 20.0}, {"width", 240.0}, {"height", 160.0}}},
                                            {"flip", {}},
                                            {"resize", {{"size", Numbers{320, 480}}}}};
  const Geometry geometry = iou_crop({"iou_crop", {{"sampler_options", 0.4}, {"trials", 1000.0}}}, before);
  for (std::uint64_t position = 0; position < 100; ++position) {
    const SamplingMap map = geometry.draw(seen({kObjects, 1}), {4, 0, position});
    const double left = map.x.output_at(kObjects[0].left), right = map.x.output_at(kObjects[0].right);
    const double top = map.y.output_at(kObjects[0].top), bottom = map.y.output_at(kObjects[0].bottom);
    const ObjectBox box{std::min(left, right), top, std::max(left, right), bottom};
    EXPECT_GE(iou_with({0, 0, 64, 64}, box), 0.39) << "the output is the part, stretched";
    EXPECT_TRUE(holds_middle({0, 0, 64, 64}, box));
  }
}

TEST(IouCrop, MayPutTheImageOnACanvasFirst) {
  const OperatorCall call{
      "iou_crop", {{"sampler_options", Numbers{1}}, {"side_range", Numbers{2, 3}}, {"zoom_p", 0.25}, {"fill", 9.0}}};
  const Geometry geometry = iou_crop(call);
  int zoomed = 0;
  for (std::uint64_t position = 0; position < 4000; ++position) {
    const SamplingMap map = geometry.draw(seen(), {6, 0, position});
    ASSERT_EQ(part_of(map).width, kWidth) << "all of the image is seen";
    ASSERT_EQ(map.width(), 64);
    if (!map.x.shows_padding()) continue;
    ++zoomed;
    EXPECT_EQ(map.fill[0], 9);
    EXPECT_GE(map.x.target, 21);
    EXPECT_LE(map.x.target, 33);
  }
  EXPECT_NEAR(zoomed, 1000, 120);
  const Geometry parts = iou_crop({"iou_crop", {{"side_range", Numbers{1, 4}}, {"zoom_p", 1.0}}});
  for (std::uint64_t position = 0; position < 2000; ++position) {
    const SamplingMap map = parts.draw(seen(), {7, 0, position});
    EXPECT_GT(map.x.image_end(), map.x.image_begin()) << "something of the image is seen";
    EXPECT_GT(map.y.image_end(), map.y.image_begin());
  }
}

TEST(IouCrop, RefusesWhatMakesNoSense) {
  const auto refusal = [](const auto& action) { return error_of(action).message(); };
  EXPECT_EQ(refusal([] {
              iou_crop({"iou_crop", {{"min_scale", 0.9}, {"max_scale", 0.5}}});
            }),
            "min_scale and min_aspect_ratio must not be above max_scale and max_aspect_ratio");
  EXPECT_EQ(refusal([] {
              iou_crop({"iou_crop", {{"side_range", Numbers{3, 2}}}});
            }),
            "side_range must be given as [least, largest]");
  EXPECT_EQ(refusal([] { iou_crop({"iou_crop", {}}, {{"pad", {{"padding", 3.0}}}}); }), kPaddingResized);
  EXPECT_TRUE(iou_crop().looks_at_boxes());
  const OperatorCall held{"random_apply", {{"operators", OperatorCalls{check_call({"iou_crop", {{"size", 8.0}}})}}}};
  EXPECT_TRUE(make_geometry_operator(check_call(held))->looks_at_boxes());
}

}  // namespace
}  // namespace stoker
