#include "stoker/tuner/response_surface.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stoker {
namespace {

TEST(ResponseSurface, KnowsNothingBeforeItHasSeenAnything) {
  ResponseSurface surface;
  surface.learn();
  const SurfaceShape shape;
  const Belief belief = surface.believe({.threads = 4, .transfer_index = 2});
  EXPECT_EQ(belief.mean, 0);
  EXPECT_GT(belief.sd, std::hypot(shape.overall, shape.index));
}

TEST(ResponseSurface, BelievesWhatItSawAndLessSoFartherAway) {
  ResponseSurface surface;
  surface.see({.threads = 4, .transfer_index = 2}, 0.5, 0.01);
  surface.learn();
  const Belief there = surface.believe({.threads = 4, .transfer_index = 2});
  EXPECT_NEAR(there.mean, 0.5, 0.01);
  EXPECT_LT(there.sd, 0.011);
  Belief before = there;
  for (const int threads : {5, 8, 16, 32}) {
    const Belief belief = surface.believe({.threads = threads, .transfer_index = 2});
    EXPECT_GT(belief.sd, before.sd) << threads;
    EXPECT_LT(belief.mean, before.mean) << threads;
    EXPECT_GT(belief.mean, 0) << threads;
    before = belief;
  }
  const Belief other_index = surface.believe({.threads = 4, .transfer_index = 1});
  EXPECT_GT(other_index.sd, there.sd);
  EXPECT_GT(other_index.mean, 0.2) << "what held at one index is likely at the next";
}

TEST(ResponseSurface, WeighsWhatItSawByItsError) {
  ResponseSurface surface;
  surface.see({.threads = 4}, 0.0, 0.01);
  surface.see({.threads = 4}, 1.0, 0.1);
  surface.learn();
  EXPECT_NEAR(surface.believe({.threads = 4}).mean, 0.01, 0.005);
}

}  // namespace
}  // namespace stoker
