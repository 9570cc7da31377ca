#include "stoker/base/distributions.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "stoker/base/fit_testing.h"
#include "stoker/base/hash.h"

namespace stoker {
namespace {

constexpr int kDraws = 100'000;

template <typename Draw>
std::vector<double> drawn(std::uint64_t seed, Draw draw) {
  Random random(seed, 0, 0, 0);
  std::vector<double> values;
  for (int i = 0; i < kDraws; ++i) values.push_back(draw(random));
  return values;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }

// The regularised lower incomplete gamma function, by its power series: accurate to some 1e-12 for x up to 60.
double gamma_cdf(double shape, double x) {
  if (x <= 0) return 0;
  double term = 1 / shape, sum = term;
  for (int i = 1; i < 500 && term > 1e-17 * sum; ++i) {
    term *= x / (shape + i);
    sum += term;
  }
  return sum * std::exp(shape * std::log(x) - x - std::lgamma(shape));
}

// The regularised incomplete beta function, as a power series in x, which converges well for x up to 1/2.
double beta_cdf(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > 0.5) return 1 - beta_cdf(b, a, 1 - x);
  double term = 1, sum = 1 / a;
  for (int i = 1; i < 500 && std::abs(term) > 1e-17; ++i) {
    term *= (i - b) / i * x;
    sum += term / (a + i);
  }
  return sum * std::exp(a * std::log(x) + std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b));
}

TEST(Distributions, NormalIsNormal) {
  const std::vector<double> values = drawn(1, [](Random& random) { return draw_normal(random); });
  EXPECT_LT(kolmogorov_smirnov(values, normal_cdf), kKolmogorovSmirnovMax);
  const std::vector<double> moved = drawn(2, [](Random& random) { return draw_normal(random, 9, 0.5); });
  EXPECT_LT(kolmogorov_smirnov(moved, [](double x) { return normal_cdf((x - 9) / 0.5); }), kKolmogorovSmirnovMax);
  Random random(3, 0, 0, 0);
  EXPECT_EQ(draw_normal(random, 9, 0), 9);
}

TEST(Distributions, GammaIsGammaForShapesBelowAndAboveOne) {
  for (const double shape : {0.1, 0.5, 1.0, 1.5, 4.0, 20.0}) {
    const auto cdf = [shape](double x) { return gamma_cdf(shape, x); };
    EXPECT_LT(kolmogorov_smirnov(drawn(4, [&](Random& random) { return draw_gamma(random, shape); }), cdf),
              kKolmogorovSmirnovMax)
        << shape;
    const auto log_cdf = [shape](double x) { return gamma_cdf(shape, std::exp(x)); };
    EXPECT_LT(kolmogorov_smirnov(drawn(5, [&](Random& random) { return draw_log_gamma(random, shape); }), log_cdf),
              kKolmogorovSmirnovMax)
        << shape;
  }
}

TEST(Distributions, BetaIsBeta) {
  constexpr std::array<std::array<double, 2>, 7> kShapes = {
      {{0.1, 0.1}, {0.2, 0.2}, {0.4, 0.4}, {0.8, 0.8}, {1, 1}, {2, 5}, {8, 0.5}}};
  for (const auto& [a, b] : kShapes) {
    const double first = a, second = b;  // clang 14 captures no structured binding
    const auto values = drawn(6, [=](Random& random) { return draw_beta(random, first, second); });
    EXPECT_LT(kolmogorov_smirnov(values, [=](double x) { return beta_cdf(first, second, x); }), kKolmogorovSmirnovMax)
        << a << " " << b;
  }
}

// With such shapes both gamma variates are smaller than any double; torch answers 0 or NaN.
TEST(Distributions, BetaOfTinyShapesIsAFairCoin) {
  int ones = 0;
  for (const double value : drawn(7, [](Random& random) { return draw_beta(random, 1e-6, 1e-6); })) {
    ASSERT_TRUE(value >= 0 && value <= 1) << value;
    ones += value > 0.5 ? 1 : 0;
  }
  EXPECT_NEAR(ones, kDraws / 2, 800);
}

TEST(Distributions, DirichletHasBetaMarginalsAndSumsToOne) {
  for (const double shape : {0.3, 1.0, 4.0}) {
    std::vector<double> first, last;
    Random random(8, 0, 0, 0);
    for (int i = 0; i < kDraws; ++i) {
      std::array<double, 4> weights;
      draw_dirichlet(random, shape, weights);
      ASSERT_NEAR(weights[0] + weights[1] + weights[2] + weights[3], 1, 1e-12);
      first.push_back(weights[0]);
      last.push_back(weights[3]);
    }
    const auto cdf = [shape](double x) { return beta_cdf(shape, 3 * shape, x); };
    EXPECT_LT(kolmogorov_smirnov(first, cdf), kKolmogorovSmirnovMax) << shape;
    EXPECT_LT(kolmogorov_smirnov(last, cdf), kKolmogorovSmirnovMax) << shape;
  }
  std::array<double, 1> alone;
  Random random(9, 0, 0, 0);
  draw_dirichlet(random, 0.5, alone);
  EXPECT_EQ(alone[0], 1);
}

TEST(Distributions, PlacesAreDrawnByTheirWeights) {
  constexpr std::array<double, 5> kWeights = {0, 3, 1, 0, 6};
  std::array<int, 5> counts{};
  Random random(10, 0, 0, 0);
  for (int i = 0; i < kDraws; ++i) ++counts[draw_place(random, kWeights)];
  EXPECT_LT(chi_squared_excess(counts, std::array<double, 5>{0, 0.3, 0.1, 0, 0.6}), kChiSquaredExcessMax);
  EXPECT_EQ(draw_place(random, std::array<double, 3>{0, 1e-300, 0}), 1u);
}

// The tests above would say little if neighbours of a distribution passed them.
TEST(Distributions, TestsOfFitTellNeighboursApart) {
  const auto normals = [](Random& random) { return draw_normal(random, 0.01, 1); };
  EXPECT_GT(kolmogorov_smirnov(drawn(11, normals), [](double x) { return normal_cdf(x * 1.03); }),
            kKolmogorovSmirnovMax);
  const auto betas = [](Random& random) { return draw_beta(random, 0.4, 0.42); };
  EXPECT_GT(kolmogorov_smirnov(drawn(12, betas), [](double x) { return beta_cdf(0.4, 0.4, x); }),
            kKolmogorovSmirnovMax);
  const auto coarse = [](Random& random) { return static_cast<double>(random.below(40)) / 40; };
  EXPECT_GT(kolmogorov_smirnov(drawn(13, coarse), [](double x) { return x; }), kKolmogorovSmirnovMax);
  const std::array<int, 4> counts = {25'500, 24'500, 25'000, 25'000};
  EXPECT_GT(chi_squared_excess(counts, std::array<double, 4>{0.25, 0.25, 0.25, 0.25}), kChiSquaredExcessMax);
  EXPECT_GT(chi_squared_excess(counts, std::array<double, 4>{0.5, 0.5, 0, 0}), 1e9);
}

TEST(Distributions, KeepTheirGoldenBits) {
  Random random(14, 1, 2, 3);
  std::vector<std::uint8_t> bytes;
  const auto keep = [&](double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
  };
  for (int i = 0; i < 10'000; ++i) {
    keep(draw_normal(random, 1, 2));
    keep(draw_gamma(random, 0.3));
    keep(draw_gamma(random, 3));
    keep(draw_beta(random, 0.2, 0.2));
    std::array<double, 3> weights;
    draw_dirichlet(random, 1, weights);
    for (const double weight : weights) keep(weight);
    keep(static_cast<double>(draw_place(random, weights)));
  }
  EXPECT_EQ(hash64(bytes), 17639798439507320829u);
}

}  // namespace
}  // namespace stoker
