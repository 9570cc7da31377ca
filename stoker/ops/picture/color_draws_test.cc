// What the colour operators draw, against the distributions that they promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/fit_testing.h"
#include "stoker/ops/operator_table.h"
#include "stoker/ops/picture/picture_operator.h"

namespace stoker {
namespace {

constexpr int kDraws = 100'000;

std::unique_ptr<PictureOperator> made(const OperatorCall& call) {
  return std::get<PictureFunction>(find_operator(call.name).function)(check_call(call));
}

// Calls `see` with the steps of each draw.
void draw_many(const OperatorCall& call, const std::function<void(std::span<const PictureStep>)>& see) {
  const auto op = made(call);
  PictureSteps steps;
  for (std::uint64_t position = 0; position < kDraws; ++position) {
    Random random(11, 0, position, 0);
    steps.clear();
    op->draw(random, {8, 8}, steps);
    see(std::as_const(steps).all());
  }
}

std::function<double(double)> uniform(double low, double high) {
  return [=](double x) { return std::clamp((x - low) / (high - low), 0.0, 1.0); };
}

// A range wider by a fiftieth at either end would not pass.
void expect_uniform(const std::vector<double>& samples, double low, double high) {
  EXPECT_LT(kolmogorov_smirnov(samples, uniform(low, high)), kKolmogorovSmirnovMax);
  const double more = (high - low) / 50;
  EXPECT_GT(kolmogorov_smirnov(samples, uniform(low - more, high)), kKolmogorovSmirnovMax);
  EXPECT_GT(kolmogorov_smirnov(samples, uniform(low, high + more)), kKolmogorovSmirnovMax);
}

TEST(ColorDraws, FactorsOfARangeAreUniform) {
  std::vector<double> factors;
  draw_many({"brightness", {{"factor", Numbers{0.25, 1.75}}}}, [&](auto steps) { factors.push_back(steps[0].f[0]); });
  expect_uniform(factors, 0.25, 1.75);
}

TEST(ColorDraws, ColorJitterDrawsTorchvisionsRangesInEveryOrderAlike) {
  std::map<PictureKind, std::vector<double>> factors;
  std::map<std::vector<PictureKind>, int> orders;
  draw_many({"torchvision_color_jitter",
             {{"brightness", 0.4}, {"contrast", Numbers{0.5, 3}}, {"saturation", 1.5}, {"hue", 0.1}}},
            [&](auto steps) {
              std::vector<PictureKind> order;
              for (const PictureStep& step : steps) {
                factors[step.kind].push_back(step.f[0]);
                order.push_back(step.kind);
              }
              ++orders[order];
            });
  expect_uniform(factors[PictureKind::kTorchvisionBrightness], 0.6, 1.4);
  expect_uniform(factors[PictureKind::kTorchvisionContrast], 0.5, 3);
  expect_uniform(factors[PictureKind::kTorchvisionSaturation], 0, 2.5);
  expect_uniform(factors[PictureKind::kTorchvisionHue], -0.1, 0.1);
  std::vector<int> counts;
  for (const auto& [order, count] : orders) counts.push_back(count);
  EXPECT_EQ(counts.size(), 24U);
  EXPECT_LT(chi_squared_excess(counts, std::vector<double>(counts.size(), 1.0 / 24)), kChiSquaredExcessMax);
}

TEST(ColorDraws, ColorJitterLeavesOutWhatChangesNothing) {
  draw_many({"color_jitter", {{"saturation", 0.5}}}, [](auto steps) {
    ASSERT_EQ(steps.size(), 1U);
    ASSERT_EQ(steps[0].kind, PictureKind::kSaturation);
  });
  draw_many({"color_jitter", {}}, [](auto steps) { ASSERT_TRUE(steps.empty()); });
}

TEST(ColorDraws, RandomOperatorsWorkWithTheirProbability) {
  const OperatorCall calls[] = {{"random_grayscale", {{"p", 0.1}}},
                                {"random_invert", {{"p", 0.3}}},
                                {"random_posterize", {{"bits", 3.0}, {"p", 0.3}}},
                                {"random_solarize", {{"threshold", 99.0}, {"p", 0.3}}},
                                {"random_equalize", {{"p", 0.3}}},
                                {"random_autocontrast", {{"p", 0.3}}},
                                {"channel_dropout", {{"p", 0.3}}}};
  for (const OperatorCall& call : calls) {
    int worked = 0;
    draw_many(call, [&](auto steps) { worked += steps.empty() ? 0 : 1; });
    const double p = std::get<double>(call.args.back().second), deviation = std::sqrt(kDraws * p * (1 - p));
    EXPECT_NEAR(worked, kDraws * p, 4 * deviation) << call.name;
  }
}

TEST(ColorDraws, PermutationsAreAllAsLikely) {
  std::map<std::vector<int>, int> orders;
  draw_many({"channel_permutation", {}}, [&](auto steps) { ++orders[{steps[0].n, steps[0].n + 3}]; });
  std::vector<int> counts;
  for (const auto& [order, count] : orders) counts.push_back(count);
  EXPECT_EQ(counts.size(), 6U);
  EXPECT_LT(chi_squared_excess(counts, std::vector<double>(counts.size(), 1.0 / 6)), kChiSquaredExcessMax);
}

TEST(ColorDraws, DropoutTakesEveryChannelAlike) {
  std::vector<int> dropped(3), at_once(4);
  draw_many({"channel_dropout", {{"channels", Numbers{1, 2}}, {"p", 1.0}}}, [&](auto steps) {
    int count = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const bool gone = steps[0].f[c] == 0;
      dropped[c] += gone ? 1 : 0;
      count += gone ? 1 : 0;
    }
    ++at_once[static_cast<std::size_t>(count)];
  });
  EXPECT_LT(chi_squared_excess(at_once, std::vector<double>{0, 0.5, 0.5, 0}), kChiSquaredExcessMax);
  for (const int count : dropped) EXPECT_NEAR(count, kDraws / 2, 4 * std::sqrt(kDraws / 4.0));
}

// Along each component the noise is normal, with that component's deviation.
TEST(ColorDraws, LightingIsNormalAlongThePrincipalComponents) {
  constexpr double kDeviation[] = {0.2175, 0.0188, 0.0045};
  constexpr double kComponent[3][3] = {
      {-0.5675, -0.5808, -0.5836}, {0.7192, -0.0045, -0.6948}, {0.4009, -0.8140, 0.4203}};
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<double> along;
    draw_many({"lighting", {{"alphastd", 0.2}}}, [&](auto steps) {
      double sum = 0;
      for (std::size_t c = 0; c < 3; ++c) sum += steps[0].f[3 + c] * kComponent[k][c];
      along.push_back(sum / (255 * 0.2 * kDeviation[k]));
    });
    // The published components are orthonormal up to their four digits: the first one shows a little in the others.
    const auto normal = [](double deviation) {
      return [deviation](double x) { return 0.5 * std::erfc(-x / (deviation * std::sqrt(2.0))); };
    };
    EXPECT_LT(kolmogorov_smirnov(along, normal(1)), kKolmogorovSmirnovMax) << k;
    EXPECT_GT(kolmogorov_smirnov(along, normal(1.05)), kKolmogorovSmirnovMax) << k;
  }
}

TEST(ColorDraws, RangesTheWrongWayRoundAreRefused) {
  const auto refusal = [](const OperatorCall& call) {
    try {
      made(call);
      return std::string("accepted");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return error.message();
    }
  };
  EXPECT_EQ(refusal({"contrast", {{"factor", Numbers{2, 1}}}}),
            "factor is [2, 1]; the first number must not be above the second");
  EXPECT_EQ(refusal({"color_jitter", {{"hue", -0.1}}}), "hue is -0.1; a single number must not be negative");
  EXPECT_EQ(refusal({"channel_dropout", {{"channels", Numbers{3, 1}}}}),
            "channels is [3, 1]; the first number must not be above the second");
}

}  // namespace
}  // namespace stoker
