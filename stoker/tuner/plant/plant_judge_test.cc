#include "stoker/tuner/plant/plant_judge_testing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "stoker/base/random.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr int kPlants = 300;

// Knows the plant, plays its cheapest point, and moves when what it has is no longer as good.
class Oracle {
 public:
  explicit Oracle(const Plant& plant) : plant_(plant) {}

  KnobSetting operator()(const TunerWindow*) {
    const PlantBest& best = plant_.best();
    if (!kept_ || plant_.throughput(*kept_) < 0.98 * best.throughput ||
        kept_->threads > PlantGoals::threads(best.cheapest.threads)) {
      kept_ = best.cheapest;
    }
    return *kept_;
  }

 private:
  const Plant& plant_;
  std::optional<KnobSetting> kept_;
};

// The last index that memory has room for, which need not be the last of all.
KnobSetting on_the_cpu(const Plant& plant, int threads) {
  std::vector<int> indices = plant.indices(), prefetches = plant.prefetches();
  std::ranges::reverse(indices);
  std::ranges::reverse(prefetches);
  for (const int index : indices) {
    for (const int prefetch : prefetches) {
      const KnobSetting knobs{threads, index, prefetch, plant.workload().io_depth_max};
      if (plant.allowed(knobs)) return knobs;
    }
  }
  return {};
}

PlantTuner always(const KnobSetting& knobs) {
  return [knobs](const TunerWindow*) { return knobs; };
}

// Knows the best index, prefetch and depth, and has all threads on.
PlantTuner all_threads(const Plant& plant) {
  return [&plant](const TunerWindow*) {
    KnobSetting knobs = plant.best().setting;
    knobs.threads = threads_max(plant.workload().cores);
    return knobs;
  };
}

PlantTuner one_thread_does_all(const Plant& plant) { return always(on_the_cpu(plant, 1)); }

PlantTuner any_setting(const Plant& plant) {
  auto random = std::make_shared<Random>(plant.parts().seed, 0, 0, 1);
  return [&plant, random](const TunerWindow*) {
    const TunedWorkload& work = plant.workload();
    const auto one_of = [&](int most) { return 1 + static_cast<int>(random->below(static_cast<std::uint64_t>(most))); };
    for (;;) {
      KnobSetting knobs;
      knobs.threads = one_of(threads_max(work.cores));
      knobs.transfer_index = plant.indices()[random->below(plant.indices().size())];
      knobs.prefetch = one_of(work.prefetch_max);
      knobs.io_depth = one_of(work.io_depth_max);
      if (plant.allowed(knobs)) return knobs;
    }
  };
}

// Doubles the threads as long as a window is faster than the one before; all stages on the CPU.
PlantTuner doubles_threads(const Plant& plant) {
  struct State {
    KnobSetting knobs;
    double rate = 0;
    bool done = false;
  };
  auto state = std::make_shared<State>(State{.knobs = on_the_cpu(plant, 1)});
  const int most = threads_max(plant.workload().cores);
  return [state, most](const TunerWindow* window) {
    if (!window || state->done) return state->knobs;
    const double rate = static_cast<double>(window->samples) / window->seconds;
    if (rate < 1.02 * state->rate) {
      state->knobs.threads = (state->knobs.threads + 1) / 2;
      state->done = true;
    } else if (state->knobs.threads == most) {
      state->done = true;
    } else {
      state->rate = rate;
      state->knobs.threads = std::min(most, 2 * state->knobs.threads);
    }
    return state->knobs;
  };
}

PlantSummary judged(const char* name, const PlantTunerMaker& maker) {
  PlantSummary summary = judge_random_plants(maker, {.count = kPlants, .changes = PlantChanges::kOnceSettled});
  std::cout << name << ": " << summary.describe() << '\n';
  return summary;
}

TEST(PlantJudge, PassesATunerThatKnowsThePlant) {
  const PlantSummary summary = judged("oracle", [](const Plant& plant) { return Oracle(plant); });
  EXPECT_TRUE(summary.holds());
  EXPECT_EQ(summary.cold.plants, kPlants);
  EXPECT_EQ(summary.cold.near_and_thrifty, 1);
  EXPECT_EQ(summary.cold.quiet, 1);
  EXPECT_EQ(summary.changed->near_and_thrifty, 1);
  EXPECT_EQ(summary.changed->quiet, 1);
}

TEST(PlantJudge, FailsOneThatAlwaysUsesAllThreads) {
  const PlantSummary summary = judged("all threads", all_threads);
  EXPECT_FALSE(summary.holds());
  EXPECT_GT(summary.cold.near, 0.7);  // that is not what is wrong with it
  EXPECT_LT(summary.cold.thrifty, 0.6);
}

TEST(PlantJudge, FailsOneThatLeavesAllToOneThread) {
  const PlantSummary summary = judged("one thread, last index", one_thread_does_all);
  EXPECT_FALSE(summary.holds());
  EXPECT_LT(summary.cold.near, 0.4);
  EXPECT_EQ(summary.cold.thrifty, 1);
  EXPECT_GT(summary.cold.loss_worst, 0.5);
}

TEST(PlantJudge, FailsOneThatPlaysAnySetting) {
  const PlantSummary summary = judged("any setting", any_setting);
  EXPECT_FALSE(summary.holds());
  EXPECT_LT(summary.cold.near, 0.3);
  EXPECT_LT(summary.cold.quiet, 0.2);
  EXPECT_EQ(summary.broken, 0);
}

TEST(PlantJudge, FailsOneThatDoublesThreadsWhileThatHelps) {
  const PlantSummary summary = judged("doubles threads", doubles_threads);
  EXPECT_FALSE(summary.holds());
  EXPECT_LT(summary.cold.near_and_thrifty, 0.6);
  EXPECT_EQ(summary.broken, 0);
}

TEST(PlantJudge, FailsOneThatDoesNotNoticeAChange) {
  const PlantSummary summary =
      judged("cheapest at the start, ever after", [](const Plant& plant) { return always(plant.best().cheapest); });
  EXPECT_FALSE(summary.holds());
  EXPECT_LT(summary.changed->near_and_thrifty, 0.8);
  EXPECT_LT(summary.changed->near, summary.cold.near);
}

TEST(PlantJudge, StopsAtALimitThatIsNotKept) {
  Plant plant = Plant::random(3);
  const KnobSetting good = plant.best().setting;
  const PlantTuner tuner = [&](const TunerWindow*) {
    KnobSetting knobs = good;
    if (plant.windows() == 40) knobs.threads = 1000;
    return knobs;
  };
  const PlantVerdict verdict = judge(plant, tuner);
  ASSERT_TRUE(verdict.broken);
  EXPECT_THAT(*verdict.broken, HasSubstr("window 40"));
  EXPECT_THAT(*verdict.broken, HasSubstr("1000 threads"));
  EXPECT_EQ(plant.windows(), 40);

  const PlantSummary summary = judge_random_plants(
      [](const Plant& of) {
        return always({.threads = of.parts().seed == 2 ? 0 : 1, .transfer_index = of.indices().back()});
      },
      {.count = 3});
  EXPECT_THAT(summary.broken_seeds, testing::Contains(2u));
  EXPECT_FALSE(summary.holds());
}

// A machine without noise on which the second setting is clearly worse.
PlantParts quiet_parts() {
  PlantParts parts;
  parts.machine.cores = 8;
  parts.stages = {{.name = "decode", .cpu_s = 1e-3, .bytes_out = 100e3}};
  parts.trainer.step_s = 1e-3;
  return parts;
}
constexpr KnobSetting kGood{7, 1, 8, 32}, kBad{3, 1, 8, 32};

// Plays the good setting but where it is told otherwise.
PlantPhase phase_with(const std::function<bool(std::int64_t)>& bad) {
  Plant plant = Plant::of(quiet_parts());
  const PlantTuner tuner = [&](const TunerWindow*) { return bad(plant.windows()) ? kBad : kGood; };
  return judge(plant, tuner).cold;
}

TEST(PlantJudge, CountsTheWindowsUntilATunerSettled) {
  EXPECT_EQ(phase_with([](auto) { return false; }).settled_after, 0);
  EXPECT_EQ(phase_with([](auto window) { return window < 60; }).settled_after, 60);
  EXPECT_TRUE(phase_with([](auto window) { return window < 60; }).near());
  EXPECT_FALSE(phase_with([](auto window) { return window < 61; }).near());
  EXPECT_FALSE(phase_with([](auto window) { return window >= 20 && window < 100; }).near());
  EXPECT_EQ(phase_with([](auto window) { return window == 80 || window == 81; }).settled_after, 0);
  EXPECT_EQ(phase_with([](auto window) { return window >= 80 && window < 83; }).settled_after, 83);
  EXPECT_EQ(phase_with([](auto window) { return window == 159; }).settled_after, 0);
  EXPECT_GT(phase_with([](auto) { return true; }).loss, 0.5);
  EXPECT_EQ(phase_with([](auto) { return true; }).settled_after, 160);
}

TEST(PlantJudge, CountsProbesInSteadyState) {
  EXPECT_EQ(phase_with([](auto window) { return window < 60 && window % 7 == 0; }).probes, 0);
  EXPECT_EQ(phase_with([](auto window) { return window % 50 == 10; }).probes, 1);  // windows 60 and 110
  EXPECT_EQ(phase_with([](auto window) { return window % 10 == 5; }).probes, 5);
  EXPECT_FALSE(phase_with([](auto window) { return window % 10 == 5; }).quiet());
  EXPECT_GT(phase_with([](auto window) { return window / 16 % 2 == 1; }).probes,
            2);  // none off for long, but many moves
}

TEST(PlantJudge, CountsThreads) {
  EXPECT_EQ(PlantGoals::threads(1), 2);
  EXPECT_EQ(PlantGoals::threads(4), 5);
  EXPECT_EQ(PlantGoals::threads(8), 10);
  EXPECT_EQ(PlantGoals::threads(9), 11);
  PlantParts parts = quiet_parts();
  parts.trainer.step_s = 256e-3;  // one core's worth
  Plant plant = Plant::of(parts);
  const int cheapest = plant.best().cheapest.threads;
  ASSERT_EQ(cheapest, 2);
  EXPECT_TRUE(judge(plant, always({cheapest + 1, 1, 8, 32})).cold.thrifty());
  EXPECT_FALSE(judge(plant, always({cheapest + 2, 1, 8, 32})).cold.thrifty());
}

TEST(PlantJudge, HoldsNothingAgainstATunerWhileANeighbourIsThere) {
  const PlantRun run{.disturb_at = 100, .disturb_cores = 6, .disturb_windows = 10};
  const auto restless_until = [&](int end) {
    Plant plant = Plant::of(quiet_parts());
    const PlantTuner tuner = [&](const TunerWindow*) {
      const std::int64_t window = plant.windows();
      return window >= 100 && window < end && window % 4 == 3 ? kBad : kGood;
    };
    return judge(plant, tuner, run).cold;
  };
  EXPECT_TRUE(restless_until(140).near());
  EXPECT_TRUE(restless_until(140).quiet());
  EXPECT_FALSE(restless_until(160).quiet());
  const auto away_until = [&](int end) {
    Plant plant = Plant::of(quiet_parts());
    const PlantTuner tuner = [&](const TunerWindow*) {
      return plant.windows() >= 100 && plant.windows() < end ? kBad : kGood;
    };
    return judge(plant, tuner, run).cold;
  };
  EXPECT_TRUE(away_until(140).near());
  EXPECT_FALSE(away_until(145).near());
}

TEST(PlantJudge, SaysWhatAPlantDid) {
  Plant plant = Plant::random(5);
  const PlantVerdict verdict = judge(plant, Oracle(plant), {.changes = {{160, 5}}});
  EXPECT_THAT(verdict.describe(), HasSubstr("plant 5: "));
  EXPECT_THAT(verdict.describe(), HasSubstr("settled after 0"));
  EXPECT_THAT(verdict.describe(), HasSubstr("then " + verdict.change));
}

}  // namespace
}  // namespace stoker
