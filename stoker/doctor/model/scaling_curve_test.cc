#include "stoker/doctor/model/scaling_curve.h"

#include <gtest/gtest.h>

#include "stoker/doctor/facts_testing.h"

namespace stoker {
namespace {

TEST(ScalingCurve, IsAsMeasured) {
  const ScalingCurve curve({{1, figure(100, 0.01)}, {2, figure(190, 0.03)}, {4, figure(320, 0.02)}}, 4);
  EXPECT_DOUBLE_EQ(*curve.one_thread_per_s(), 100);
  EXPECT_NEAR(curve.worth(1, 4).workers, 1, 1e-9);
  EXPECT_NEAR(curve.worth(2, 4).workers, 1.9, 1e-9);
  EXPECT_NEAR(curve.worth(3, 4).workers, 2.55, 1e-9);
  EXPECT_NEAR(curve.worth(4, 4).workers, 3.2, 1e-9);
  EXPECT_NEAR(curve.worth(4, 4).error, 0.02, 1e-9);
  EXPECT_NEAR(curve.worth(8, 4).workers, 3.2, 1e-9);  // there are no cores for them
}

TEST(ScalingCurve, OfMoreCoresIsBetweenHopeAndFear) {
  const ScalingCurve curve({{1, figure(100)}, {4, figure(320)}}, 4);
  const ScalingCurve::Worth worth = curve.worth(16, 16);
  const double crowding = (4 / 3.2 - 1) / 3;
  EXPECT_GT(worth.workers, 16 / (1 + 15 * crowding));
  EXPECT_LT(worth.workers, 16 * 0.8);
  EXPECT_GT(worth.error, 0.1);
  EXPECT_GT(curve.worth(8, 8).workers, 3.2);
  EXPECT_LT(curve.worth(8, 8).error, worth.error);
}

TEST(ScalingCurve, OfFewerCoresIsThatOfFewerThreads) {
  const ScalingCurve even({{1, figure(100)}, {16, figure(1600)}}, 16);
  EXPECT_NEAR(even.worth(16, 2).workers, 2, 1e-9);
  EXPECT_NEAR(even.worth(16, 0.5).workers, 0.5, 1e-9);
  EXPECT_NEAR(even.worth(16, 2.5).workers, 2.5, 1e-9);
  // Sixteen threads of eight cores: two of these are two cores, or one.
  const ScalingCurve threads({{1, figure(100)}, {8, figure(800)}, {16, figure(1000)}}, 16);
  EXPECT_LT(threads.worth(2, 2).workers, 2);
  EXPECT_GT(threads.worth(2, 2).workers, 1.25);
}

TEST(ScalingCurve, PerfectScalingGoesOn) {
  const ScalingCurve curve({{1, figure(100, 0)}, {2, figure(200, 0)}}, 2);
  EXPECT_NEAR(curve.worth(8, 8).workers, 8, 1e-9);
  EXPECT_NEAR(curve.worth(8, 8).error, 0.1, 1e-9);  // two doublings that nobody saw
}

TEST(ScalingCurve, WithoutMeasurementsItIsEven) {
  const ScalingCurve curve({}, 8);
  EXPECT_FALSE(curve.measured());
  EXPECT_FALSE(curve.one_thread_per_s().has_value());
  EXPECT_EQ(curve.worth(8, 8).workers, 8);
  EXPECT_NEAR(curve.worth(8, 8).error, 0.15, 1e-9);
}

TEST(ScalingCurve, LeavesOutMoreThreadsThanCores) {
  const ScalingCurve curve({{1, figure(100)}, {2, figure(200)}, {4, figure(150)}}, 2);
  EXPECT_NEAR(curve.worth(4, 2).workers, 2, 1e-9);
}

}  // namespace
}  // namespace stoker
