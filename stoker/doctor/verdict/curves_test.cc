#include "stoker/doctor/verdict/curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "stoker/doctor/facts_testing.h"
#include "stoker/doctor/model/predict.h"

namespace stoker {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST(CoreCurve, RisesToItsKneeAndNoFurther) {
  const CoreCurve curve = throughput_by_cores(few_cores_facts());
  ASSERT_GT(curve.points.size(), 2U);
  EXPECT_EQ(curve.points.front().cores, 1);
  ASSERT_TRUE(curve.knee);
  double best = 0;
  for (const CorePoint& point : curve.points) best = std::max(best, point.samples_per_s);
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const CorePoint& point = curve.points[i];
    if (point.cores > *curve.knee) continue;
    if (i > 0) {
      EXPECT_GE(point.samples_per_s, 0.98 * curve.points[i - 1].samples_per_s) << point.cores;
    }
    EXPECT_EQ(point.samples_per_s >= 0.97 * best, point.cores == *curve.knee) << point.cores;
  }
  EXPECT_GT(*curve.knee, few_cores_facts().machine.cores);  // they starve the GPU
}

TEST(CoreCurve, AgreesWithThePredictionForThisMachine) {
  const Facts facts = small_files_facts();
  for (const CorePoint& point : throughput_by_cores(facts).points) {
    if (point.cores != facts.machine.cores) continue;
    EXPECT_EQ(point.samples_per_s, predict(facts).samples_per_s);
  }
}

TEST(IndexPoints, CoverEveryIndexThatWasMeasured) {
  const std::vector<IndexPoint> points = throughput_by_index(few_cores_facts());
  EXPECT_EQ(points.size(), 8U);  // four indices, one or two threads
  Facts none = few_cores_facts();
  none.copy = {};
  EXPECT_THAT(throughput_by_index(none), IsEmpty());
  EXPECT_LE(throughput_by_index(healthy_facts()).size(), 4U * 16);
}

TEST(DistributionColumns, HaveEqualWidthsWhereValuesAreNear) {
  const DistributionColumns columns = distribution_columns({10, 20, 30, 40, 50}, 4);
  EXPECT_THAT(columns.edges, ElementsAre(10, 20, 30, 40, 50));
  EXPECT_THAT(columns.shares, Each(testing::DoubleNear(0.25, 1e-12)));
  EXPECT_EQ(columns.median, 30);
}

TEST(DistributionColumns, HaveEqualRatiosWhereTheyAreFar) {
  const DistributionColumns columns = distribution_columns({1, 10, 100, 1000}, 3);
  EXPECT_THAT(columns.edges, ElementsAre(1, testing::DoubleNear(10, 1e-9), testing::DoubleNear(100, 1e-9), 1000));
  EXPECT_NEAR(sum_of(columns.shares), 1, 1e-12);
  EXPECT_EQ(columns.median, 55);
}

TEST(DistributionColumns, BeginAtTheLeastValueHoweverSmall) {
  const DistributionColumns columns = distribution_columns({0, 0, 5, 1000, 1e9}, 24);
  EXPECT_EQ(columns.edges.front(), 0);
  EXPECT_NEAR(sum_of(columns.shares), 1, 1e-12);
  for (const double share : columns.shares) EXPECT_GE(share, 0);
}

TEST(DistributionColumns, OfSmallValuesKeepTheirRatios) {
  // Seconds: all below 1.
  const DistributionColumns columns = distribution_columns({1e-4, 1e-3, 1e-2, 1e-1}, 3);
  EXPECT_NEAR(columns.edges[1], 1e-3, 1e-12);
  EXPECT_NEAR(sum_of(columns.shares), 1, 1e-12);
}

TEST(DistributionColumns, AreNoneWhereThereIsNothingToShow) {
  EXPECT_THAT(distribution_columns({}, 4).shares, IsEmpty());
  EXPECT_THAT(distribution_columns({7}, 4).shares, IsEmpty());
  EXPECT_THAT(distribution_columns({7, 7, 7}, 4).shares, IsEmpty());
}

}  // namespace
}  // namespace stoker
