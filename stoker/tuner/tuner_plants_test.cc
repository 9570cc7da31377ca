// The tuner on simulated machines, of which it was not made to know any.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <set>
#include <vector>

#include "stoker/base/rounds_testing.h"
#include "stoker/tuner/plant/plant_judge_testing.h"
#include "stoker/tuner/tuner.h"

namespace stoker {
namespace {

// After a change fewer windows are left for cheaper settings, and shares of 300 plants differ by a few from one
// compiler's arithmetic to another's: docs/tuning.md has those of more plants.
constexpr double kThriftyShare = 0.87, kQuietShare = 0.93;

PlantTuner tuner_of(const Plant& plant) {
  return [tuner = std::make_shared<Tuner>(plant.workload())](const TunerWindow* window) {
    if (window) tuner->see(*window);
    return tuner->knobs();
  };
}

TEST(TunerPlants, AreTunedFromAColdStartAndAfterAChange) {
  const PlantSummary summary =
      judge_random_plants(tuner_of, {.count = kSanitized ? 10 : 300, .changes = PlantChanges::kOnceSettled});
  std::cout << summary.describe() << "\n";
  EXPECT_EQ(summary.broken, 0) << "a limit was not kept, of seed " << testing::PrintToString(summary.broken_seeds);
  if (kSanitized) return;  // too few for shares
  EXPECT_GE(summary.cold.near, PlantGoals::kShare);
  EXPECT_LE(summary.cold.loss_worst, PlantGoals::kLossWorst);
  EXPECT_GE(summary.cold.quiet, PlantGoals::kShare);
  EXPECT_GE(summary.changed->near, PlantGoals::kShare);
  EXPECT_LE(summary.changed->loss_worst, PlantGoals::kLossWorst);
  EXPECT_GE(summary.changed->quiet, kQuietShare);
  EXPECT_GE(summary.cold.thrifty, PlantGoals::kShare);
  EXPECT_GE(summary.changed->thrifty, kThriftyShare);
  EXPECT_LE(summary.cold.threads_mean, 1.15);
}

TEST(TunerPlants, AreTunedThoughTheyChangeAtAnyMoment) {
  const PlantSummary summary =
      judge_random_plants(tuner_of, {.count = kSanitized ? 10 : 300, .changes = PlantChanges::kAtRandomMoments});
  std::cout << summary.describe() << "\n";
  EXPECT_EQ(summary.broken, 0) << "a limit was not kept, of seed " << testing::PrintToString(summary.broken_seeds);
  if (kSanitized) return;  // too few for shares
  EXPECT_GE(summary.changed->near, PlantGoals::kShare);
  EXPECT_LE(summary.changed->loss_worst, 0.1);
  EXPECT_GE(summary.changed->quiet, kQuietShare);
  EXPECT_GE(summary.changed->thrifty, kThriftyShare);
}

TEST(TunerPlants, HaveTheirIndexFallFromAllStagesToNoneAsTheDeviceGetsFaster) {
  std::vector<int> indices;
  for (double speed = 0.03; speed < 500; speed *= 3) {
    Plant plant = Plant::of(photograph_parts(speed));
    const PlantVerdict verdict = judge(plant, tuner_of(plant));
    EXPECT_TRUE(verdict.cold.near()) << verdict.describe();
    indices.push_back(verdict.cold.settled.transfer_index);
  }
  EXPECT_EQ(indices.front(), 3);
  EXPECT_EQ(indices.back(), 0);
  EXPECT_TRUE(std::is_sorted(indices.rbegin(), indices.rend())) << testing::PrintToString(indices);
  EXPECT_GE(std::set<int>(indices.begin(), indices.end()).size(), 3U) << testing::PrintToString(indices);
}

TEST(TunerPlants, SurviveANoisyNeighbour) {
  for (const std::uint64_t seed : {3, 8, 14}) {
    Plant plant = Plant::random(seed);
    const PlantVerdict verdict = judge(plant, tuner_of(plant), {.windows = 260, .disturb_at = 70});
    EXPECT_EQ(verdict.broken, std::nullopt);
    EXPECT_LE(verdict.cold.loss, PlantGoals::kLossWorst) << verdict.describe();
  }
}

}  // namespace
}  // namespace stoker
