#include "stoker/doctor/probe/figure_of.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(FigureOf, IsTheMedianWithTheQuartiles) {
  const Figure figure = figure_of({5, 1, 4, 2, 3});
  EXPECT_EQ(figure.median, 3);
  EXPECT_EQ(figure.low, 2);
  EXPECT_EQ(figure.high, 4);
  EXPECT_EQ(figure.count, 5);
  EXPECT_DOUBLE_EQ(figure_of({1, 2}).median, 1.5);
  EXPECT_FALSE(figure_of({}).known());
}

TEST(QuantilesOf, GoFromTheLeastToTheLargest) {
  EXPECT_EQ(quantiles_of({30, 10, 20}, 5), (std::vector<double>{10, 15, 20, 25, 30}));
  EXPECT_EQ(quantiles_of({7}, 3), (std::vector<double>{7, 7, 7}));
  EXPECT_TRUE(quantiles_of({}, 3).empty());
}

}  // namespace
}  // namespace stoker
