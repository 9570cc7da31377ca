#include "stoker/runtime/report/limiter.h"

#include <gtest/gtest.h>

#include <set>

namespace stoker {
namespace {

TEST(Limiter, HasANameOfItsOwn) {
  std::set<std::string_view> names, words;
  for (auto i = static_cast<int>(Limiter::kCpuDecode); i <= static_cast<int>(Limiter::kStep); ++i) {
    EXPECT_TRUE(names.insert(name_of(static_cast<Limiter>(i))).second);
    EXPECT_TRUE(words.insert(words_of(static_cast<Limiter>(i))).second);
  }
  EXPECT_EQ(name_of(Limiter::kStorageRequests), "storage requests");
  EXPECT_EQ(name_of(Limiter::kStep), "step");
}

TEST(BoundClass, FollowsTheIdleShare) {
  EXPECT_EQ(bound_class(0), BoundClass::kFed);
  EXPECT_EQ(bound_class(0.049), BoundClass::kFed);
  EXPECT_EQ(bound_class(0.05), BoundClass::kModerately);
  EXPECT_EQ(bound_class(0.2), BoundClass::kModerately);
  EXPECT_EQ(bound_class(0.201), BoundClass::kHighly);
  EXPECT_EQ(name_of(BoundClass::kHighly), "highly input-bound");
}

TEST(VerdictSentence, NamesTheLimitAndTheNext) {
  EXPECT_EQ(verdict_sentence(0.384, {Limiter::kCpuDecode, 1000}, Limit{Limiter::kStorageBandwidth, 1400}),
            "GPU idle 38%: CPU decode is the limit; next limit storage bandwidth at 1.4x");
  EXPECT_EQ(verdict_sentence(0.06, {Limiter::kStorageRequests, 1000}, std::nullopt),
            "GPU idle 6%: storage requests are the limit");
  EXPECT_EQ(verdict_sentence(0.01, {Limiter::kStep, 1000}, std::nullopt), "Fed: the step is the limit");
}

}  // namespace
}  // namespace stoker
