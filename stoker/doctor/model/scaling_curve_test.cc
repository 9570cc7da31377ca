#include "stoker/doctor/model/scaling_curve.h"

#include <gtest/gtest.h>

#include "stoker/doctor/facts_testing.h"

namespace stoker {
namespace {

TEST(ScalingCurve, IsAsMeasured) {
  const ScalingCurve curve({{1, figure(100, 0.01)}, {2, figure(190, 0.03)}, {4, figure(320, 0.02)}}, 4);
  EXPECT_DOUBLE_EQ(*curve.core_per_s(), 100);
  EXPECT_NEAR(curve.worth(1, 4).cores, 1, 1e-9);
  EXPECT_NEAR(curve.worth(2, 4).cores, 1.9, 1e-9);
  EXPECT_NEAR(curve.worth(3, 4).cores, 2.55, 1e-9);
  EXPECT_NEAR(curve.worth(4, 4).cores, 3.2, 1e-9);
  EXPECT_NEAR(curve.worth(4, 4).error, 0.02, 1e-9);
  EXPECT_NEAR(curve.worth(8, 4).cores, 3.2, 1e-9);  // there are no cores for them
}

TEST(ScalingCurve, OfMoreCoresIsBetweenHopeAndFear) {
  const ScalingCurve curve({{1, figure(100)}, {4, figure(320)}}, 4);
  const ScalingCurve::Worth worth = curve.worth(16, 16);
  const double crowding = (4 / 3.2 - 1) / 3;
  EXPECT_GT(worth.cores, 16 / (1 + 15 * crowding));
  EXPECT_LT(worth.cores, 16 * 0.8);
  EXPECT_GT(worth.error, 0.1);
  EXPECT_GT(curve.worth(8, 8).cores, 3.2);
  EXPECT_LT(curve.worth(8, 8).error, worth.error);
}

TEST(ScalingCurve, OfFewerCoresIsThatOfFewerThreads) {
  const ScalingCurve even({{1, figure(100)}, {16, figure(1600)}}, 16);
  EXPECT_NEAR(even.worth(16, 2).cores, 2, 1e-9);
  EXPECT_NEAR(even.worth(16, 0.5).cores, 0.5, 1e-9);
  EXPECT_NEAR(even.worth(16, 2.5).cores, 2.5, 1e-9);
  // Sixteen threads of eight cores: two of these are two cores, or one.
  const ScalingCurve threads({{1, figure(100)}, {8, figure(800)}, {16, figure(1000)}}, 16);
  EXPECT_LT(threads.worth(2, 2).cores, 2);
  EXPECT_GT(threads.worth(2, 2).cores, 1.25);
}

TEST(ScalingCurve, PerfectScalingGoesOn) {
  const ScalingCurve curve({{1, figure(100, 0)}, {2, figure(200, 0)}}, 2);
  EXPECT_NEAR(curve.worth(8, 8).cores, 8, 1e-9);
  EXPECT_NEAR(curve.worth(8, 8).error, 0.1, 1e-9);  // two doublings that were not measured
}

TEST(ScalingCurve, WithoutMeasurementsItIsEven) {
  const ScalingCurve curve({}, 8);
  EXPECT_FALSE(curve.measured());
  EXPECT_FALSE(curve.core_per_s().has_value());
  EXPECT_EQ(curve.worth(8, 8).cores, 8);
  EXPECT_NEAR(curve.worth(8, 8).error, 0.15, 1e-9);
}

TEST(ScalingCurve, LeavesOutMoreThreadsThanCores) {
  const ScalingCurve curve({{1, figure(100)}, {2, figure(200)}, {4, figure(150)}}, 2);
  EXPECT_NEAR(curve.worth(4, 2).cores, 2, 1e-9);
}

TEST(ScalingCurve, AThreadThatHadHalfACoreIsWorthTwiceThatOfAWholeOne) {
  const ScalingCurve curve({{1, figure(100)}}, 0.5);
  EXPECT_DOUBLE_EQ(*curve.core_per_s(), 200);
  EXPECT_NEAR(curve.worth(1, 0.5).cores, 0.5, 1e-9);
  EXPECT_NEAR(curve.worth(1, 1).cores, 1, 1e-9);
  const ScalingCurve more({{1, figure(100)}, {2, figure(140)}}, 1.4);
  EXPECT_NEAR(more.worth(2, 1.4).cores, 1.4, 1e-9);
  EXPECT_NEAR(more.worth(2, 0.7).cores, 0.7, 1e-9);
}

TEST(ScalingCurve, AQuotaOfWhichLittleWasSeenIsWorthAllOfIt) {
  const ScalingCurve curve({{1, figure(80), 0.005}}, 0.5);  // by 0.4 cores
  EXPECT_DOUBLE_EQ(*curve.core_per_s(), 200);
  EXPECT_NEAR(curve.worth(1, 0.5).cores, 0.5, 1e-9);
}

TEST(ScalingCurve, OneCoreHasMoreToDoThanItsThread) {
  const ScalingCurve curve({{1, figure(100), 0.0125}, {2, figure(160), 0.0125}}, 2);  // of 1.25 and of 2 cores
  EXPECT_DOUBLE_EQ(*curve.core_per_s(), 80);
  EXPECT_NEAR(curve.worth(1, 2).cores * 80, 100, 1e-9);
  EXPECT_NEAR(curve.worth(1, 1).cores * 80, 80, 1e-9);
  EXPECT_NEAR(curve.worth(2, 2).cores * 80, 160, 1e-9);
}

}  // namespace
}  // namespace stoker
