#include "stoker/ops/picture/pixel_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "stoker/base/fit_testing.h"
#include "stoker/base/random.h"

namespace stoker {
namespace {

constexpr int kDraws = 100'000;

double normal_cdf(double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }

TEST(PixelNoise, TakesItsWordsFromPhilox) {
  constexpr std::uint64_t kKey = 0x123456789ABCDEF0;
  // Word 16 * j + i of group g is word j of block 16 * g + i.
  const auto block = philox4x32({16 * 3 + 5, 0, 0, 0}, {0x9ABCDEF0, 0x12345678});
  for (std::uint32_t j = 0; j < 4; ++j) EXPECT_EQ(PixelNoise::word(kKey, 64 * 3 + 16 * j + 5), block[j]);
  const auto far = philox4x32({16, 1, 0, 0}, {0x9ABCDEF0, 0x12345678});  // beyond 32 bits
  EXPECT_EQ(PixelNoise::word(kKey, std::int64_t{64} * ((1 << 28) + 1)), far[0]);
}

TEST(PixelNoise, IsNormal) {
  std::vector<double> all, first, second;
  for (int i = 0; i < kDraws; ++i) {
    all.push_back(PixelNoise::normal(7, i));
    // Of one word: the radius is shared, yet the two are independent.
    const std::int64_t place = std::int64_t{i} / 16 * 32 + i % 16;
    first.push_back(PixelNoise::normal(8, place));
    second.push_back(PixelNoise::normal(8, place + 16));
  }
  EXPECT_LT(kolmogorov_smirnov(all, normal_cdf), kKolmogorovSmirnovMax);
  std::vector<double> sums, differences;
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    sums.push_back((first[i] + second[i]) * std::sqrt(0.5));
    differences.push_back((first[i] - second[i]) * std::sqrt(0.5));
    products += first[i] * second[i];
    squares += (first[i] * first[i] - 1) * (second[i] * second[i] - 1) / 2;
  }
  EXPECT_LT(kolmogorov_smirnov(sums, normal_cdf), kKolmogorovSmirnovMax);
  EXPECT_LT(kolmogorov_smirnov(differences, normal_cdf), kKolmogorovSmirnovMax);
  EXPECT_LT(std::abs(products) / std::sqrt(kDraws), 4);
  EXPECT_LT(std::abs(squares) / std::sqrt(kDraws), 4);
  // The test tells a distribution that is 3% too wide.
  EXPECT_GT(kolmogorov_smirnov(all, [](double x) { return normal_cdf(x * 1.03); }), kKolmogorovSmirnovMax);
}

TEST(PixelNoise, HasTheRadiiOfItsUniformNumbers) {
  for (std::uint32_t bits = 0; bits < 65'536; ++bits) {
    const double want = std::sqrt(-2 * std::log((bits + 0.5) / 65'536));
    ASSERT_NEAR(PixelNoise::radius(bits), want, 2e-6 * want + 1e-7) << bits;
  }
}

}  // namespace
}  // namespace stoker
