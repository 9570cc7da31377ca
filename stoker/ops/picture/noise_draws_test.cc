// What the operators of blur, sharpness, noise and JPEG artefacts draw: 100,000 times each, beside the distribution
// that they are said to have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stoker/base/fit_testing.h"
#include "stoker/ops/operator_table.h"
#include "stoker/ops/picture/noise_meaning.h"
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

constexpr int kDraws = 100'000;

// Calls `look(steps)` for each of many samples.
template <class Look>
void draw_many(const OperatorCall& call, const Look& look) {
  PictureChain chain;
  chain.append(std::get<PictureFunction>(find_operator(call.name).function)(check_call(call)),
               random_stream("image", call.name, 0));
  PictureSteps steps;
  for (int i = 0; i < kDraws; ++i) {
    chain.draw({64, 48}, {.seed = 5, .epoch = 1, .position = static_cast<std::uint64_t>(i)}, steps);
    look(steps.all());
  }
}

// `value(step)` of the first step.
template <class Value>
std::vector<double> drawn_values(const OperatorCall& call, const Value& value) {
  std::vector<double> values;
  draw_many(call, [&](std::span<const PictureStep> steps) { values.push_back(value(steps.front())); });
  return values;
}

void expect_uniform(const std::vector<double>& values, double low, double high) {
  const auto cdf = [&](double width) { return [=](double x) { return std::clamp((x - low) / width, 0.0, 1.0); }; };
  EXPECT_LT(kolmogorov_smirnov(values, cdf(high - low)), kKolmogorovSmirnovMax);
  // The test tells a range that is 2% too short.
  EXPECT_GT(kolmogorov_smirnov(values, cdf(0.98 * (high - low))), kKolmogorovSmirnovMax);
}

TEST(DrawnSteps, OfGaussianBlurHaveAUniformSigma) {
  const auto sigma = [](const PictureStep& step) { return std::sqrt(-0.5 / std::log(double{step.f[0]})); };
  expect_uniform(drawn_values({"gaussian_blur", {{"kernel_size", 9.0}}}, sigma), 0.1, 2);
  expect_uniform(drawn_values({"gaussian_blur", {{"kernel_size", 9.0}, {"sigma", Numbers{0.5, 3}}}}, sigma), 0.5, 3);
}

TEST(DrawnSteps, OfSharpnessHaveAUniformFactor) {
  const auto factor = [](const PictureStep& step) { return 1 - double{step.f[0]}; };
  expect_uniform(drawn_values({"sharpness", {{"factor", Numbers{0.25, 4}}}}, factor), 0.25, 4);
}

TEST(DrawnSteps, OfRandomSharpnessComeWithItsProbability) {
  int drawn = 0;
  draw_many({"random_sharpness", {{"factor", 2.0}, {"p", 0.3}}},
            [&](std::span<const PictureStep> steps) { drawn += static_cast<int>(steps.size()); });
  EXPECT_NEAR(drawn, 0.3 * kDraws, 4 * std::sqrt(0.3 * 0.7 * kDraws));
}

TEST(DrawnSteps, OfNoiseHaveUniformAmountsAndKeysOfTheirOwn) {
  std::vector<double> keys;
  const auto sigma = [&](const PictureStep& step) {
    keys.push_back(static_cast<double>(step.key) * 0x1p-64);
    return double{step.f[1]} / 255;
  };
  expect_uniform(drawn_values({"gaussian_noise", {{"sigma", Numbers{0.05, 0.3}}}}, sigma), 0.05, 0.3);
  expect_uniform(keys, 0, 1);
  const auto photons = [](const PictureStep& step) { return 255 / double{step.f[2]}; };
  expect_uniform(drawn_values({"shot_noise", {{"photons", Numbers{3, 200}}}}, photons), 3, 200);
  const auto amount = [](const PictureStep& step) { return step.n[1] * 0x1p-24; };
  const auto salt = [](const PictureStep& step) { return static_cast<double>(step.n[0]) / step.n[1]; };
  const OperatorCall call{"salt_and_pepper", {{"amount", Numbers{0.1, 0.6}}, {"ratio", Numbers{0.2, 0.7}}}};
  expect_uniform(drawn_values(call, amount), 0.1, 0.6);
  expect_uniform(drawn_values(call, salt), 0.2, 0.7);
}

TEST(DrawnSteps, OfJpegDegradeHaveEachQualityEquallyOften) {
  std::vector<int> counts(101);
  draw_many({"jpeg_degrade", {{"quality", Numbers{30, 95}}}},
            [&](std::span<const PictureStep> steps) { ++counts[static_cast<std::size_t>(steps.front().n[0])]; });
  std::vector<double> probabilities(counts.size());
  for (std::size_t quality = 30; quality <= 95; ++quality) probabilities[quality] = 1.0 / 66;
  EXPECT_LT(chi_squared_excess(counts, probabilities), kChiSquaredExcessMax);
}

// A picture of one value, through a step.
template <class Pixel>
std::vector<std::uint8_t> of_grey(int value, const PictureStep& step, const Pixel& pixel) {
  constexpr int kWidth = 200, kHeight = kDraws / kWidth / 3 + 1;
  std::vector<std::uint8_t> planes(std::size_t{3} * kWidth * kHeight, static_cast<std::uint8_t>(value));
  PicturePass pass{};
  pass.steps = &step;
  pass.count = 1;
  pass.in = pass.out = planes.data();
  pass.width = kWidth;
  pass.height = kHeight;
  pass.in_width = kWidth;
  pass.in_height = kHeight;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) pixel(pass, x, y);
  }
  return planes;
}

PictureStep step_of(const OperatorCall& call) {
  PictureSteps steps;
  PictureChain chain;
  chain.append(std::get<PictureFunction>(find_operator(call.name).function)(check_call(call)), 1);
  chain.draw({1, 1}, {}, steps);
  return steps.all().front();
}

TEST(ShotNoise, CountsPhotonsOfPoissonsDistribution) {
  for (const double photons : {3.0, 60.0, 150.0}) {
    const PictureStep step = step_of({"shot_noise", {{"photons", photons}}});
    for (const int value : {20, 128}) {
      const double mean = value * photons / 255;
      std::vector<double> counts;
      for (const std::uint8_t each : of_grey(value, step, shot_noise_pixel)) {
        counts.push_back(std::nearbyint(each * photons / 255));
      }
      const auto cdf = [photons](double mean_count) {
        return [=](double count) {
          if (count >= photons) return 1.0;  // white, as is what exceeds it
          double sum = 0;
          for (int k = 0; k <= count; ++k) sum += std::exp(k * std::log(mean_count) - mean_count - std::lgamma(k + 1));
          return sum;
        };
      };
      EXPECT_LT(kolmogorov_smirnov(counts, cdf(mean)), kKolmogorovSmirnovMax) << photons << " " << value;
      EXPECT_GT(kolmogorov_smirnov(counts, cdf(mean * 1.05)), kKolmogorovSmirnovMax) << photons << " " << value;
    }
  }
}

TEST(GaussianNoise, HasItsMeanAndDeviation) {
  const PictureStep step = step_of({"gaussian_noise", {{"mean", 0.1}, {"sigma", 0.12}}});
  std::vector<double> values;
  for (const std::uint8_t each : of_grey(100, step, gaussian_noise_pixel)) values.push_back(each);
  const auto cdf = [](double mean, double sigma) {
    // A byte stands for all that is rounded to it.
    return [=](double x) { return 0.5 * std::erfc(-(std::floor(x) + 0.5 - mean) / sigma * std::sqrt(0.5)); };
  };
  EXPECT_LT(kolmogorov_smirnov(values, cdf(125.5, 30.6)), kKolmogorovSmirnovMax);
  EXPECT_GT(kolmogorov_smirnov(values, cdf(126.5, 30.6)), kKolmogorovSmirnovMax);
  EXPECT_GT(kolmogorov_smirnov(values, cdf(125.5, 31.6)), kKolmogorovSmirnovMax);
}

TEST(SaltAndPepper, ReplacesItsShareOfThePixels) {
  const PictureStep step = step_of({"salt_and_pepper", {{"amount", 0.3}, {"ratio", 0.2}}});
  const std::vector<std::uint8_t> planes = of_grey(100, step, salt_and_pepper_pixel);
  const std::size_t pixels = planes.size() / 3;
  std::vector<int> counts(3);
  for (std::size_t i = 0; i < pixels; ++i) {
    ++counts[planes[i] == 255 ? 0 : planes[i] == 0 ? 1 : 2];
    ASSERT_EQ(planes[i], planes[pixels + i]);
    ASSERT_EQ(planes[i], planes[2 * pixels + i]);
  }
  const auto expect_share = [&](int count, double share) {
    const auto n = static_cast<double>(pixels);
    EXPECT_NEAR(count, share * n, 4 * std::sqrt(share * (1 - share) * n));
  };
  expect_share(counts[0], 0.06);
  expect_share(counts[1], 0.24);
}

}  // namespace
}  // namespace stoker
