// Warps before the last operators of geometry, as recipes have them: what is drawn, decoded, shown and refused. That
// all executors agree on their pixels is tested with other recipes (executor_agreement_test.cc,
// device_agreement_test.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/plan/agreement_testing.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/reference_executor.h"
#include "stoker/plan/sample_images.h"

namespace stoker {
namespace {

using testing::HasSubstr;

OperatorCall rotate(double degrees, const char* filter = "bilinear", double fill = 0) {
  return {"rotate", {{"degrees", degrees}, {"filter", filter}, {"fill", fill}}};
}

OperatorCall translate_x(double pixels, double fill) {
  return {"translate_x", {{"pixels", pixels}, {"filter", "bilinear"}, {"fill", fill}}};
}

Recipe faithful() { return Recipe().decode("faithful"); }

// Rows of pixels of three bytes.
struct Pixels {
  int width, height;
  std::vector<std::uint8_t> bytes;

  std::array<int, 3> at(int x, int y) const {
    const auto first = static_cast<std::size_t>(3 * (y * width + x));
    return {bytes[first], bytes[first + 1], bytes[first + 2]};
  }
};

Pixels pixels_of(Recipe recipe, const std::vector<std::uint8_t>& encoded, std::uint64_t position = 0) {
  const Plan plan(recipe.layout("nhwc"));
  CpuExecutor executor(plan);
  const Bytes fields[] = {encoded};
  const SampleOutput output = run_one(executor, {.fields = fields, .draw = {3, 1, position}}).front();
  return {static_cast<int>(output.spec.shape[1]), static_cast<int>(output.spec.shape[0]), output.bytes};
}

WarpedSampling sampling_of(const Recipe& recipe, ImageSize image, std::uint64_t position = 0) {
  return Plan(recipe).views().front().image.draw(image, {3, 1, position});
}

TEST(SourceWarp, DrawsWhatItDrawsAfterTheResize) {
  const OperatorCall calls[] = {
      {"random_rotation", {{"degrees", 70.0}}},
      {"random_affine", {{"degrees", 30.0}, {"translate", Numbers{0.2, 0.1}}, {"center", Numbers{4, 90}}}},
      {"random_apply", {{"operators", OperatorCalls{{"random_rotation", {{"degrees", 9.0}}}}}, {"p", 0.7}}}};
  constexpr ImageSize kSize = {120, 120};
  for (const OperatorCall& call : calls) {
    const Recipe early = faithful().add(call).center_crop(120), late = faithful().center_crop(120).add(call);
    int drawn = 0;
    for (std::uint64_t position = 0; position < 30; ++position) {
      const WarpedSampling sampling = sampling_of(early, kSize, position);
      PictureSteps steps;
      Plan(late).views().front().image.picture.draw(kSize, {3, 1, position}, steps);
      ASSERT_EQ(sampling.warped, !steps.all().empty()) << position;
      if (!sampling.warped) continue;
      ++drawn;
      const float *const got = sampling.step[0].f, *const want = steps.all()[0].f;
      // The canvas has the scale of the image, and begins elsewhere.
      for (const int i : {0, 1, 3, 4}) EXPECT_EQ(got[i], want[i]) << position;
      const AxisMap &x = sampling.map.x, &y = sampling.map.y;
      EXPECT_NEAR(got[2] + x.clamp_begin + x.window_begin, want[2], 1e-3) << position;
      EXPECT_NEAR(got[5] + y.clamp_begin + y.window_begin, want[5], 1e-3) << position;
    }
    EXPECT_GT(drawn, 10);
  }
}

TEST(SourceWarp, ChangesNothingWhereNoneIsDrawn) {
  const OperatorCall never = {"random_apply", {{"operators", OperatorCalls{rotate(30)}}, {"p", 0.0}}};
  for (const char* mode : {"planar", "faithful"}) {
    const auto after = [&](Recipe recipe) {
      return recipe.random_resized_crop(40).random_flip().pad({2}, {1, 2, 3}).invert();
    };
    for (std::uint64_t position = 0; position < 6; ++position) {
      const std::vector<std::uint8_t> jpeg = noisy_jpeg(97, 71, position);
      const Pixels plain = pixels_of(after(Recipe().decode(mode)), jpeg, position);
      EXPECT_EQ(pixels_of(after(Recipe().decode(mode).add(never)), jpeg, position).bytes, plain.bytes);
      EXPECT_EQ(pixels_of(after(Recipe().decode(mode).add(rotate(360, "bicubic"))), jpeg, position).bytes, plain.bytes);
    }
  }
}

TEST(SourceWarp, IsExactWherePixelsStay) {
  const std::vector<std::uint8_t> png = noisy_png(50, 50, 1);
  const Pixels image = pixels_of(faithful(), png);
  for (const char* filter : {"nearest", "bilinear", "bicubic"}) {
    const Pixels turned = pixels_of(faithful().add(rotate(90, filter)).flip(), png);
    for (int y = 0; y < 50; ++y) {
      for (int x = 0; x < 50; ++x) ASSERT_EQ(turned.at(x, y), image.at(49 - y, 49 - x)) << filter;
    }
  }
}

// Not of the window that is decoded, and not of the crop.
TEST(SourceWarp, FillsBeyondTheEdgeOfTheImage) {
  const std::vector<std::uint8_t> png = noisy_png(60, 40, 2);
  const Pixels image = pixels_of(faithful(), png);
  const Pixels moved =
      pixels_of(faithful().add(translate_x(10, 77)).pad({2, 1, 0, 0}, {9, 8, 7}).crop(1, 0, 50, 30), png);
  for (int y = 0; y < moved.height; ++y) {
    for (int x = 0; x < moved.width; ++x) {
      const int from = x + 1 - 2 - 10;
      const std::array<int, 3> want = x < 1 || y < 1 ? std::array{9, 8, 7}
                                      : from < 0     ? std::array{77, 77, 77}
                                                     : image.at(from, y - 1);
      ASSERT_EQ(moved.at(x, y), want) << x << ", " << y;
    }
  }
}

TEST(SourceWarp, ShowsNothingButItsFillWhereTheImageIsElsewhere) {
  for (const double pixels : {-500.0, 500.0, 70.0}) {
    const Pixels far = pixels_of(faithful().add(translate_x(pixels, 77)).resize(20, 20), noisy_png(60, 40, 2));
    EXPECT_EQ(far.bytes, std::vector<std::uint8_t>(20 * 20 * 3, 77)) << pixels;
  }
}

// Of the last resize after the warps, though it change no size, else of the last one before them.
TEST(SourceWarp, ResizesWithTheFilterOfTheLastResize) {
  constexpr ImageSize kSize = {50, 40};
  const auto filter_of = [&](const Recipe& recipe) { return sampling_of(recipe, kSize).map.filter; };
  const auto warped = [](Recipe recipe) { return recipe.add({"affine", {{"angle", 20.0}, {"scale", 0.5}}}); };
  EXPECT_EQ(filter_of(warped(faithful()).crop(0, 0, 30, 30)), Filter::kBilinear);
  EXPECT_EQ(filter_of(warped(faithful()).resize(40, 50, "nearest")), Filter::kNearest);
  EXPECT_EQ(filter_of(warped(faithful()).resize(20, 20, "nearest")), Filter::kNearest);
  EXPECT_EQ(filter_of(warped(faithful().resize(30, 30, "bicubic")).resize(30, 30, "nearest")), Filter::kNearest);
  EXPECT_EQ(filter_of(warped(faithful().resize(30, 30, "nearest")).crop(0, 0, 9, 9)), Filter::kNearest);
  EXPECT_EQ(filter_of(warped(faithful().resize(40, 50, "nearest")).crop(0, 0, 9, 9)), Filter::kNearest);
}

TEST(SourceWarp, NeedsNoMoreOfTheImageThanItShows) {
  const Plan plan(Recipe().decode().add(rotate(30)).crop(500, 400, 100, 60).resize(224, 224));
  SampleImages images(plan);
  const std::vector<std::uint8_t> jpeg = noisy_jpeg(1000, 900, 1);
  const Bytes fields[] = {jpeg};
  images.begin({.fields = fields});
  const Rect window = images.decodes().front().window;
  // Turned, the crop is 117 x 102 pixels.
  EXPECT_LE(window.width, 117 + 40);
  EXPECT_LE(window.height, 102 + 40);
  EXPECT_GE(window.width, 117);
  EXPECT_GE(window.height, 102);
  // The canvas of a batch on a device is larger, but shows hardly more.
  images.begin({.fields = fields}, true);
  const Rect for_device = images.decodes().front().window;
  EXPECT_LE(for_device.width, 117 + 40);
  EXPECT_LE(for_device.height, 102 + 40);
}

// The longest way across the output fits the canvas, whatever its shape, the image's and the warp.
TEST(SourceWarp, HasRoomOnItsCanvas) {
  const OperatorCall wild = {"random_affine",
                             {{"degrees", 180.0},
                              {"scale", Numbers{0.1, 8}},
                              {"shear", Numbers{-60, 60, -60, 60}},
                              {"translate", Numbers{0.5, 0.5}}}};
  for (const ImageSize image : {ImageSize{1, 1}, {640, 480}, {3, 900}, {2000, 7}}) {
    for (const ImageSize output : {ImageSize{1, 1}, {224, 224}, {300, 9}}) {
      const Recipe recipe = Recipe().decode().add(wild).resize(output.height, output.width);
      for (std::uint64_t position = 0; position < 40; ++position) {
        const WarpedSampling sampling = sampling_of(recipe, image, position);
        const float* const m = sampling.step[0].f;
        // Neighbours in the output are a pixel of the canvas apart, but for the rounding of its size.
        const auto expect_scale = [&](const AxisMap& axis, const float* row) {
          if (axis.target == 1) return;
          EXPECT_NEAR(std::hypot(row[0], row[1]), 1, 0.5 / (axis.target - 0.5) + 1e-4) << position;
        };
        expect_scale(sampling.map.x, m);
        expect_scale(sampling.map.y, m + 3);
        EXPECT_LE(sampling.read.width, sampling.map.width());
        for (const double x : {0, output.width - 1}) {
          for (const double y : {0, output.height - 1}) {
            const double at_x = m[0] * x + m[1] * y + m[2], at_y = m[3] * x + m[4] * y + m[5];
            // On the canvas, or where there is nothing of the image.
            const auto is_padding = [](const AxisMap& axis, double at) {
              return axis.window_begin + at < -1 || axis.window_begin + at > axis.target;
            };
            EXPECT_TRUE((at_x > 1 && at_x < sampling.read.width - 2) || is_padding(sampling.map.x, at_x)) << at_x;
            EXPECT_TRUE((at_y > 1 && at_y < sampling.read.height - 2) || is_padding(sampling.map.y, at_y)) << at_y;
          }
        }
      }
    }
  }
}

std::string refusal_of(const std::function<void()>& action, ErrorKind kind) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "not refused";
}

TEST(SourceWarp, RefusesWhatIsNotOneSampling) {
  const auto refusal = [](const Recipe& recipe) { return refusal_of([&] { Plan plan(recipe); }, ErrorKind::kUsage); };
  EXPECT_THAT(refusal(faithful().add(rotate(3)).add(rotate(4, "bicubic")).resize(8, 8)), HasSubstr("same filter"));
  EXPECT_THAT(refusal(faithful().add(rotate(3)).add(rotate(4, "bilinear", 9)).resize(8, 8)), HasSubstr("same filter"));
  EXPECT_THAT(refusal(faithful().pad({4}).add(rotate(3)).center_crop(8)), HasSubstr("before what pads"));
  EXPECT_THAT(refusal(faithful().add({"elastic", {}}).resize(8, 8)), HasSubstr("resize (geometry) must come before"));
  EXPECT_THAT(refusal(faithful().add(rotate(3)).invert().resize(8, 8)), HasSubstr("must come before"));
  EXPECT_THAT(refusal(faithful().add(rotate(3)).flip().add(rotate(3)).resize(8, 8)), HasSubstr("must come before"));
}

TEST(SourceWarp, RefusesTooLargeACanvas) {
  EXPECT_THAT(refusal_of([] { Plan plan(faithful().add(rotate(3)).resize(1, 20'000)); }, ErrorKind::kLimit),
              HasSubstr("needs a canvas with sides of 20009 pixels; the limit is 16384"));
  // Where the size depends on the image, that counts.
  EXPECT_THAT(refusal_of(
                  [] {
                    sampling_of(faithful().add(rotate(3)).flip(), {16'380, 4});
                  },
                  ErrorKind::kLimit),
              HasSubstr("needs a canvas"));
  EXPECT_EQ(sampling_of(faithful().add(rotate(3)).flip(), {16'370, 4}).size, (ImageSize{16'370, 4}));
}

TEST(SourceWarp, CountsAsGeometry) {
  const Plan plan(faithful().add(rotate(3)).resize(30, 40).invert());
  EXPECT_THAT(plan.stages()[1].operators, testing::ElementsAre(HasSubstr("rotate"), HasSubstr("resize")));
  EXPECT_THAT(plan.stages()[2].operators, testing::ElementsAre(HasSubstr("invert")));
  EXPECT_EQ(plan.stages()[1].bytes_out, 58 * 58 * 3);
  EXPECT_EQ(plan.outputs()[0].shape, (Shape{3, 30, 40}));
}

TEST(SourceWarp, PixelsStayAsTheyWere) {
  Hasher64 hasher;
  std::uint64_t seed = 0;
  for (const Recipe& recipe : source_warp_recipes()) {
    const Plan plan(recipe);
    ReferenceExecutor reference(plan);
    for (const ImageSize size : {ImageSize{90, 61}, {130, 200}}) {
      const std::vector<std::uint8_t> png = noisy_png(size.width, size.height, ++seed);
      const Bytes fields[] = {png};
      hasher.update(run_one(reference, {.fields = fields, .draw = {7, 1, seed}}).front().bytes);
    }
  }
  EXPECT_EQ(to_hex(hasher.digest()), "68de324e23d947dc");
}

}  // namespace
}  // namespace stoker
