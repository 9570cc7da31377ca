#include "stoker/doctor/model/prediction.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(Prediction, NamesItsLimitersAsReportsDo) {
  EXPECT_EQ(name_of(Limiter::kCpuDecode), "cpu decode");
  EXPECT_EQ(name_of(Limiter::kStorageRequests), "storage requests");
  EXPECT_EQ(name_of(Limiter::kStep), "step");
}

}  // namespace
}  // namespace stoker
