#include "stoker/doctor/model/quantiles.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stoker {
namespace {

TEST(Quantiles, AreStraightInBetween) {
  const Quantiles quantiles({1, 3, 11});
  EXPECT_EQ(quantiles.at(0), 1);
  EXPECT_EQ(quantiles.at(0.25), 2);
  EXPECT_EQ(quantiles.at(0.5), 3);
  EXPECT_EQ(quantiles.at(0.75), 7);
  EXPECT_EQ(quantiles.at(1), 11);
  EXPECT_EQ(quantiles.mean(), 4.5);
}

TEST(Quantiles, OneValueIsAlwaysTheSame) {
  EXPECT_EQ(Quantiles({7}).at(0.3), 7);
  EXPECT_EQ(Quantiles({7}).mean(), 7);
}

TEST(Quantiles, LogNormalHasItsMedianAndNearlyItsMean) {
  const Quantiles quantiles = Quantiles::log_normal(2, 0.5);
  EXPECT_NEAR(quantiles.at(0.5), 2, 1e-3);
  EXPECT_NEAR(quantiles.at((0.8413 - 0.01) / 0.98), 2 * std::exp(0.5), 0.02);
  EXPECT_NEAR(quantiles.mean(), 2 * std::exp(0.125), 0.05);  // its ends are cut off
}

TEST(Quantiles, ScalesToAMean) {
  const Quantiles scaled = Quantiles({1, 3, 11}).scaled_to_mean(9);
  EXPECT_DOUBLE_EQ(scaled.mean(), 9);
  EXPECT_DOUBLE_EQ(scaled.at(1), 22);
  EXPECT_EQ(Quantiles({0}).scaled_to_mean(3).mean(), 0);
}

}  // namespace
}  // namespace stoker
