// What the operators that erase draw: 100,000 times each, beside the distribution that they are said to have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stoker/base/fit_testing.h"
#include "stoker/ops/erase/erase_operator.h"
#include "stoker/ops/operator_table.h"

namespace stoker {
namespace {

constexpr int kDraws = 100'000;

// `look(steps)` for each of many samples.
template <class Look>
void erase_many(const OperatorCall& call, ImageSize size, const Look& look) {
  EraseChain chain;
  chain.append(std::get<EraseFunction>(find_operator(call.name).function)(check_call(call)),
               random_stream("image", call.name, 0));
  EraseSteps steps;
  for (int i = 0; i < kDraws; ++i) {
    chain.draw(size, {.seed = 5, .epoch = 1, .position = static_cast<std::uint64_t>(i)}, steps);
    look(steps.all());
  }
}

void expect_uniform_numbers(const std::vector<double>& values, double low, double high) {
  const auto cdf = [&](double width) { return [=](double x) { return std::clamp((x - low) / width, 0.0, 1.0); }; };
  EXPECT_LT(kolmogorov_smirnov(values, cdf(high - low)), kKolmogorovSmirnovMax);
  EXPECT_GT(kolmogorov_smirnov(values, cdf(0.98 * (high - low))), kKolmogorovSmirnovMax);
}

// So large that rounding to pixels does not show, and the boxes so small that all fit.
constexpr ImageSize kLarge{50'000, 60'000};

TEST(RandomErasing, DrawsAreaAndPlaceEvenlyAndTheShapeByItsLogarithm) {
  std::vector<double> areas, ratios, places_x, places_y;
  erase_many({"random_erasing", {{"p", 1.0}, {"scale", Numbers{0.02, 0.2}}}}, kLarge,
             [&](std::span<const EraseStep> steps) {
               ASSERT_EQ(steps.size(), 1U);
               const double width = steps[0].width, height = steps[0].height;
               areas.push_back(width * height / kLarge.width / kLarge.height);
               ratios.push_back(std::log(height / width));
               places_x.push_back((steps[0].x + 0.5) / (kLarge.width - width + 1));
               places_y.push_back((steps[0].y + 0.5) / (kLarge.height - height + 1));
             });
  expect_uniform_numbers(areas, 0.02, 0.2);
  expect_uniform_numbers(ratios, std::log(0.3), std::log(3.3));
  expect_uniform_numbers(places_x, 0, 1);
  expect_uniform_numbers(places_y, 0, 1);
}

TEST(RandomErasing, DrawsItsProbabilityAndItsCount) {
  std::vector<int> counts(6);
  std::vector<double> areas;
  erase_many({"random_erasing", {{"p", 0.25}, {"scale", Numbers{0.03, 0.3}}, {"min_count", 2.0}, {"max_count", 5.0}}},
             kLarge, [&](std::span<const EraseStep> steps) {
               ++counts[steps.size()];
               // Boxes share the area among them.
               for (const EraseStep& step : steps) {
                 const double width = step.width, area = width * step.height / kLarge.width / kLarge.height;
                 areas.push_back(area * static_cast<double>(steps.size()));
               }
             });
  const double each = 0.25 / 4;
  EXPECT_LT(chi_squared_excess(counts, std::vector<double>{0.75, 0, each, each, each, each}), kChiSquaredExcessMax);
  areas.resize(kDraws / 2);
  expect_uniform_numbers(areas, 0.03, 0.3);
}

TEST(RandomErasing, GivesUpABoxThatDoesNotFitInTenAttempts) {
  // A box of 0.9 to 1 of a square's area fits if both of its sides are shorter than the square's: for an area a its
  // shape must be between a and 1 / a, which has the probability log(1 / a) / log(10) here.
  double fits = 0;
  constexpr int kParts = 1000;
  for (int i = 0; i < kParts; ++i) fits -= std::log(0.9 + 0.1 * (i + 0.5) / kParts) / std::log(10) / kParts;
  int none = 0;
  erase_many({"random_erasing", {{"p", 1.0}, {"scale", Numbers{0.9, 1}}, {"ratio", Numbers{0.1, 10}}}},
             {60'000, 60'000}, [&](std::span<const EraseStep> steps) { none += steps.empty() ? 1 : 0; });
  const double expected = std::pow(1 - fits, 10);
  EXPECT_NEAR(none, expected * kDraws, 4 * std::sqrt(expected * (1 - expected) * kDraws));
}

TEST(RandomErasing, WritesNormalColors) {
  std::vector<double> values;
  erase_many({"random_erasing", {{"p", 1.0}, {"mode", "rand"}, {"scale", Numbers{0.1, 0.1}}}}, {100, 100},
             [&](std::span<const EraseStep> steps) {
               values.push_back(steps[0].value[values.size() % 3]);
               EXPECT_FALSE(steps[0].noise);
             });
  EXPECT_LT(kolmogorov_smirnov(values, [](double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }),
            kKolmogorovSmirnovMax);
}

TEST(Cutout, HasItsMiddleAtAnyPixel) {
  std::vector<int> middles(20 * 10);
  erase_many({"cutout", {{"size", Numbers{5, 7}}}}, {20, 10}, [&](std::span<const EraseStep> steps) {
    // What is cut off at one side tells where the other one is.
    const EraseStep& step = steps[0];
    const int x = step.x > 0 ? step.x + 3 : step.width - 4, y = step.y > 0 ? step.y + 2 : step.height - 3;
    ++middles[static_cast<std::size_t>(20 * y + x)];
    EXPECT_LE(step.x + step.width, 20);
    EXPECT_LE(step.y + step.height, 10);
  });
  EXPECT_LT(chi_squared_excess(middles, std::vector<double>(200, 1.0 / 200)), kChiSquaredExcessMax);
}

TEST(GridMask, DrawsSpacingAngleAndPlaceEvenly) {
  std::vector<int> periods(31);
  std::vector<double> angles, places;
  int drawn = 0;
  erase_many({"grid_mask", {{"d", Numbers{10, 30}}, {"rotate", 90.0}, {"p", 0.5}}}, {64, 64},
             [&](std::span<const EraseStep> steps) {
               if (steps.empty()) return;
               const EraseGrid& grid = steps[0].grid;
               ++drawn;
               ++periods[static_cast<std::size_t>(grid.period >> EraseGrid::kUnitBits)];
               angles.push_back(std::atan2(grid.sine, grid.cosine));
               // Spread within its pixel, so that the numbers are continuous.
               places.push_back((static_cast<double>(grid.begin_u) / 65'536 + angles.back() / std::acos(0.0)) /
                                (static_cast<double>(grid.period) / 65'536));
             });
  EXPECT_NEAR(drawn, kDraws / 2, 4 * std::sqrt(kDraws / 4));
  std::vector<double> probabilities(periods.size());
  for (std::size_t period = 10; period <= 30; ++period) probabilities[period] = 1.0 / 21;
  EXPECT_LT(chi_squared_excess(periods, probabilities), kChiSquaredExcessMax);
  expect_uniform_numbers(angles, 0, std::acos(0.0));
  expect_uniform_numbers(places, 0, 1);
}

}  // namespace
}  // namespace stoker
