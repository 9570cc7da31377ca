#include "stoker/tuner/plant/plant_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace stoker {
namespace {

using testing::ElementsAre;

// Every point, the depths of reads included.
std::vector<KnobSetting> whole_grid(const Plant& plant) {
  std::vector<KnobSetting> grid;
  for (int threads = 1; threads <= threads_max(plant.workload().cores); ++threads) {
    for (const int index : plant.indices()) {
      for (const int prefetch : plant.prefetches()) {
        for (const int depth : plant.io_depths()) {
          const KnobSetting knobs{threads, index, prefetch, depth};
          if (plant.allowed(knobs)) grid.push_back(knobs);
        }
      }
    }
  }
  return grid;
}

std::vector<double> figures(const TunerWindow& window) {
  std::vector<double> all{static_cast<double>(window.samples), window.seconds, window.wait_s, window.step_s};
  for (const TunerWindow::Stage& stage : window.stages) all.push_back(stage.seconds);
  return all;
}

TEST(Plant, IsTheSameForTheSameSeed) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Plant one = Plant::random(seed), same = Plant::random(seed);
    EXPECT_EQ(one.describe(), same.describe());
    EXPECT_NE(one.describe().substr(9), Plant::random(seed + 1).describe().substr(9));
    for (int window = 0; window < 20; ++window) {
      const KnobSetting knobs = window % 7 < 3 ? one.best().setting : one.best().cheapest;
      EXPECT_EQ(figures(one.run(knobs)), figures(same.run(knobs)));
    }
    EXPECT_EQ(one.change(seed), same.change(seed));
    EXPECT_EQ(one.describe(), same.describe());
  }
}

TEST(Plant, HasItsBestIndexFallFromAllStagesToNoneAsItsDeviceGetsFaster) {
  std::vector<int> best;
  for (double speed = 0.03; speed < 500; speed *= 1.5) {
    best.push_back(Plant::of(photograph_parts(speed)).best().setting.transfer_index);
  }
  EXPECT_EQ(best.front(), 3);
  EXPECT_EQ(best.back(), 0);
  EXPECT_TRUE(std::ranges::is_sorted(best, std::greater<>())) << testing::PrintToString(best);
  EXPECT_EQ(std::set<int>(best.begin(), best.end()).size(), 4u) << testing::PrintToString(best);
}

TEST(Plant, IsNeverWorseWithMoreCoresUnlessCoresCostEachOther) {
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    PlantParts parts = random_plant_parts(seed);
    if (parts.machine.coherence > 0) continue;
    ++tried;
    double before = Plant::of(parts).best().throughput;
    for (const int more : {1, 1, 4, 20}) {
      parts.machine.cores += more;
      const double after = Plant::of(parts).best().throughput;
      EXPECT_GE(after, before * (1 - 1e-9)) << Plant::of(parts).describe();
      before = after;
    }
  }
  EXPECT_GT(tried, 100);
}

TEST(Plant, GetsWorseBeyondAPeakOfThreadsWhereCoresCostEachOther) {
  PlantParts parts = photograph_parts(1e-3);
  parts.machine.cores = 64;
  parts.machine.coherence = 1.0 / (20 * 20);
  const Plant plant = Plant::of(parts);
  EXPECT_NEAR(plant.best().setting.threads, 20, 1);
  EXPECT_LT(plant.throughput({50, 3, 8, 32}), 0.9 * plant.best().throughput);
}

TEST(Plant, GainsLittleFromSecondThreadsOfCores) {
  PlantParts parts = photograph_parts(1e-3);
  parts.machine.cores = 16;
  parts.trainer.cores = 0;
  parts.machine.second_thread = 0.2;
  const Plant plant = Plant::of(parts);
  const auto rate = [&](int threads) { return plant.rates({threads, 3, 8, 32}).cpu; };
  EXPECT_NEAR(rate(8) / rate(4), 2, 1e-6);
  EXPECT_NEAR(rate(12) / rate(8), 1.1, 1e-6);
}

TEST(Plant, LosesPartOfItsStepToKernels) {
  PlantParts parts = photograph_parts(1);
  parts.trainer.step_s = 1;
  const auto step_at = [&](int index) { return Plant::of(parts).rates({3, index, 8, 32}); };
  EXPECT_NEAR(step_at(3).step_s, 1, 1e-9);
  EXPECT_NEAR(step_at(1).step_s, 1 + 0.5 * 64 * 1.1e-3, 1e-9);
  EXPECT_LT(step_at(1).throughput, 0.98 * step_at(3).throughput);
  parts.device.interference = 0;
  EXPECT_NEAR(step_at(1).step_s, 1, 1e-9);
}

TEST(Plant, EvensOutByPrefetchWhatVaries) {
  PlantParts parts = photograph_parts(1e-3);
  parts.trainer.jitter = 0.5;
  parts.trainer.step_s = 64 * 3.05e-3 / 4;  // as fast as four cores
  const Plant plant = Plant::of(parts);
  const auto gain = [&](int prefetch) {
    return plant.throughput({4, 3, 2 * prefetch, 32}) / plant.throughput({4, 3, prefetch, 32});
  };
  EXPECT_GT(gain(1), 1.05);
  EXPECT_LT(gain(2), gain(1));
  EXPECT_LT(gain(4), gain(2));
  EXPECT_GT(gain(4), 1);
}

TEST(Plant, HasNoMoreBatchesUnderWayThanBuffers) {
  PlantParts parts = photograph_parts(10);
  parts.trainer = {.step_s = 1e-6};
  parts.sharpness = 1000;
  parts.overhead_s = 0.4e-3;  // of four cores: 0.1 ms a sample, as the copy and the kernels take
  parts.machine.copy_bytes_per_s = parts.coded_bytes / 0.1e-3;
  for (PlantStage& stage : parts.stages) stage.device_s = 0.1e-3 / 3;
  const Plant plant = Plant::of(parts);
  EXPECT_NEAR(plant.throughput({4, 0, 8, 32}) * 0.1e-3, 1, 0.02);
  EXPECT_NEAR(plant.throughput({4, 0, 1, 32}) * 0.1e-3, 2.0 / 3, 0.02);
}

TEST(Plant, ReadsFasterWithDepthUntilItIsTooDeep) {
  PlantParts parts = photograph_parts(10);
  parts.store = {.latency_s = 20e-3, .bytes_per_s = 100e6, .knee = 16, .decline = 0.3};
  parts.io_depth_max = 128;
  const Plant plant = Plant::of(parts);
  const auto rate = [&](int depth) { return plant.rates({4, 0, 8, depth}).store; };
  EXPECT_NEAR(rate(4) / rate(2), 2, 0.1);
  EXPECT_LT(rate(64), 0.8 * rate(16));
  EXPECT_NEAR(plant.rates({4, 0, 1, 128}).store / plant.rates({4, 0, 8, 128}).store, 1, 1e-9);
  parts.batch = 32;  // two batches of which have no more than 64 samples to read
  EXPECT_GT(Plant::of(parts).rates({4, 0, 1, 128}).store, 1.5 * Plant::of(parts).rates({4, 0, 8, 128}).store);
}

TEST(Plant, HasTheIndicesFromWhichTheDeviceCanDoEverything) {
  PlantParts parts = photograph_parts(10);
  EXPECT_THAT(Plant::of(parts).indices(), ElementsAre(0, 1, 2, 3));
  parts.stages[1].device_s.reset();
  EXPECT_THAT(Plant::of(parts).indices(), ElementsAre(2, 3));
  parts.stages[2].device_s.reset();
  EXPECT_THAT(Plant::of(parts).indices(), ElementsAre(3));
}

TEST(Plant, AllowsNothingBeyondItsLimits) {
  PlantParts parts = photograph_parts(10);
  parts.stages[0].device_s.reset();
  parts.machine.memory_limit = 5 * 64 * 400000;  // index 1 with prefetch 4, index 3 with prefetch 2
  const Plant plant = Plant::of(parts);
  EXPECT_TRUE(plant.allowed({4, 1, 4, 32}));
  EXPECT_FALSE(plant.allowed({5, 1, 4, 32}));
  EXPECT_FALSE(plant.allowed({0, 1, 4, 32}));
  EXPECT_FALSE(plant.allowed({4, 0, 4, 32}));
  EXPECT_FALSE(plant.allowed({4, 4, 1, 32}));
  EXPECT_FALSE(plant.allowed({4, 1, 5, 32}));
  EXPECT_FALSE(plant.allowed({4, 1, 0, 32}));
  EXPECT_FALSE(plant.allowed({4, 1, 4, 33}));
  EXPECT_FALSE(plant.allowed({4, 1, 4, 0}));
  EXPECT_TRUE(plant.allowed({4, 2, 8, 32}));
  EXPECT_FALSE(plant.allowed({4, 3, 3, 32}));
}

// The best point, by looking at each; of no use but to compare.
PlantBest best_of_all(const Plant& plant) {
  const std::vector<KnobSetting> grid = whole_grid(plant);
  PlantBest best;
  for (const KnobSetting& knobs : grid) best.throughput = std::max(best.throughput, plant.throughput(knobs));
  best.cheapest.threads = threads_max(plant.workload().cores);
  for (const KnobSetting& knobs : grid) {
    if (plant.throughput(knobs) < 0.99 * best.throughput) continue;
    best.cheapest.threads = std::min(best.cheapest.threads, knobs.threads);
  }
  return best;
}

TEST(Plant, FindsTheBestPointOfItsGridWithinItsMemory) {
  int limited = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Plant plant = Plant::random(seed);
    const PlantBest &best = plant.best(), expected = best_of_all(plant);
    EXPECT_TRUE(plant.allowed(best.setting) && plant.allowed(best.cheapest)) << plant.describe();
    EXPECT_DOUBLE_EQ(best.throughput, expected.throughput) << plant.describe();
    EXPECT_DOUBLE_EQ(plant.throughput(best.setting), expected.throughput) << plant.describe();
    EXPECT_EQ(best.cheapest.threads, expected.cheapest.threads) << plant.describe();
    EXPECT_DOUBLE_EQ(plant.throughput(best.cheapest), best.cheapest_throughput) << plant.describe();
    PlantParts unlimited = plant.parts();
    unlimited.machine.memory_limit = 0;
    limited += Plant::of(unlimited).best().setting != best.setting;
  }
  EXPECT_GT(limited, 0);  // or else the limits are too wide to be any
}

TEST(Plant, MeasuresWhatItsThroughputIsWithinItsNoise) {
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Plant plant = Plant::random(seed);
    const PlantMeasuring& measuring = plant.parts().measuring;
    if (measuring.outlier_share > 0 || plant.parts().drift.of != PlantDrift::Of::kNothing) continue;
    ++tried;
    const KnobSetting knobs = seed % 2 ? plant.best().setting : plant.best().cheapest;
    const double expected = plant.throughput(knobs);
    constexpr int kWindows = 200;
    double sum = 0, squares = 0;
    for (int i = 0; i < kWindows; ++i) {
      const TunerWindow window = plant.run(knobs);
      const double off = std::log(static_cast<double>(window.samples) / window.seconds / expected);
      sum += off;
      squares += off * off;
    }
    // Five standard errors: of all the seeds there are, one in two million would fail.
    EXPECT_LT(std::abs(sum / kWindows), 5 * measuring.noise / std::sqrt(kWindows)) << plant.describe();
    EXPECT_NEAR(std::sqrt(squares / kWindows) / measuring.noise, 1, 0.25) << plant.describe();
  }
  EXPECT_GT(tried, 100);
}

double busy_cpu_s(const TunerWindow& window) {
  double busy = 0;
  for (const TunerWindow::Stage& stage : window.stages) busy += stage.side == StageSide::kCpu ? stage.seconds : 0;
  return busy;
}

// That a window's figures agree with one another; threads: the most that were at work in it.
void expect_consistent(const TunerWindow& window, const Plant& plant, int threads) {
  const double steps = static_cast<double>(window.samples) / plant.workload().batch;
  EXPECT_EQ(steps, plant.parts().measuring.steps);
  EXPECT_NEAR(window.seconds, steps * window.step_s + window.wait_s, 1e-9 * window.seconds);
  EXPECT_GE(window.wait_s, 0);
  EXPECT_TRUE(std::ranges::all_of(window.stages, [](const auto& stage) { return stage.seconds > 0; }));
  EXPECT_LE(busy_cpu_s(window), threads * window.seconds * (1 + 1e-9)) << plant.describe();
}

TEST(Plant, MeasuresNothingThatContradictsItself) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Plant plant = Plant::random(seed);
    const std::vector<KnobSetting> grid = whole_grid(plant);
    int threads_before = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      const KnobSetting knobs = grid[i * 7919 % grid.size()];
      expect_consistent(plant.run(knobs), plant, std::max(knobs.threads, threads_before));
      threads_before = knobs.threads;
    }
  }
}

TEST(Plant, TellsBusySecondsOfEachStageOnItsSide) {
  PlantParts parts = photograph_parts(10);
  parts.measuring.steps = 50;
  Plant plant = Plant::of(parts);
  const TunerWindow window = plant.run({2, 1, 2, 32});
  ASSERT_EQ(window.stages.size(), 3u);
  EXPECT_EQ(window.stages[0].name, "decode");
  EXPECT_EQ(window.stages[0].side, StageSide::kCpu);
  EXPECT_NEAR(window.stages[0].seconds / (50 * 64 * 2e-3), 1, 0.02);
  EXPECT_EQ(window.stages[1].side, StageSide::kDevice);
  EXPECT_NEAR(window.stages[1].seconds / (50 * 64 * 0.1e-3), 1, 0.02);
}

TEST(Plant, CountsContentionAsBusyOnlyWhereItDoes) {
  PlantParts parts = photograph_parts(10);
  parts.machine.cores = 32;
  parts.machine.serial_share = 0.05;
  const auto decode_s = [&] { return Plant::of(parts).run({24, 3, 8, 32}).stages[0].seconds; };
  const double without = decode_s();
  parts.measuring.busy_counts_contention = true;
  EXPECT_GT(decode_s(), 1.5 * without);
}

TEST(Plant, HasNoThreadBusyForLongerThanItsWindow) {
  PlantParts parts = photograph_parts(10);
  parts.trainer = {.step_s = 1e-6};
  parts.overhead_s = 1e-12;
  parts.measuring = {.noise = 0.04, .busy_counts_contention = true};
  Plant plant = Plant::of(parts);
  for (int i = 0; i < 100; ++i) {
    const TunerWindow window = plant.run({4, 3, 8, 32});
    EXPECT_LE(busy_cpu_s(window), 4 * window.seconds * (1 + 1e-9));
    EXPECT_GE(busy_cpu_s(window), 4 * window.seconds * 0.98);
  }
}

TEST(Plant, StillHasOldSettingsInTheFirstWindowAfterAChangeOfKnobs) {
  PlantParts parts = photograph_parts(10);
  parts.measuring.transient = 0.5;
  Plant plant = Plant::of(parts);
  const KnobSetting slow{1, 3, 2, 32}, fast{4, 3, 2, 32};
  const double slow_s = plant.run(slow).seconds, mixed_s = plant.run(fast).seconds, fast_s = plant.run(fast).seconds;
  EXPECT_GT(slow_s, 2 * fast_s);
  EXPECT_NEAR(mixed_s, (slow_s + fast_s) / 2, 1e-6 * slow_s);
}

TEST(Plant, DriftsByNoMoreThanItSays) {
  PlantParts parts = photograph_parts(1e-3);
  parts.drift = {.of = PlantDrift::Of::kCpu, .size = 0.05, .period = 200};
  Plant plant = Plant::of(parts);
  const KnobSetting knobs = plant.best().setting;
  const double first = plant.throughput(knobs);
  double least = first, most = first;
  for (int window = 0; window < 200; ++window) {
    plant.run(knobs);
    least = std::min(least, plant.throughput(knobs));
    most = std::max(most, plant.throughput(knobs));
    EXPECT_DOUBLE_EQ(plant.best().throughput, plant.throughput(plant.best().setting));
  }
  EXPECT_NEAR(std::log(most / first), 0.05, 0.005);
  EXPECT_NEAR(std::log(least / first), -0.05, 0.005);
}

TEST(Plant, HasOutliersNowAndThen) {
  PlantParts parts = photograph_parts(10);
  parts.measuring.outlier_share = 0.04;
  parts.measuring.outlier_size = 0.6;
  Plant plant = Plant::of(parts);
  const KnobSetting knobs = plant.best().setting;
  int outliers = 0;
  for (int i = 0; i < 500; ++i) {
    const TunerWindow window = plant.run(knobs);
    const double longer = window.seconds * plant.throughput(knobs) / static_cast<double>(window.samples);
    EXPECT_LT(longer, 1.6);
    outliers += longer > 1.05;
  }
  EXPECT_GT(outliers, 5);
  EXPECT_LT(outliers, 50);
}

TEST(Plant, ChangesInEveryWayThatIsMet) {
  std::set<std::string> ways;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Plant plant = Plant::of(photograph_parts(10));
    const TunedWorkload before = plant.workload();
    std::string way = plant.change(seed);
    for (char& c : way) c = c >= '0' && c <= '9' ? '0' : c;
    ways.insert(way);
    EXPECT_EQ(plant.workload().stages[0].cpu_s, before.stages[0].cpu_s);  // there is no second calibration
    EXPECT_GT(plant.best().throughput, 0);
    EXPECT_TRUE(plant.allowed(plant.best().setting));
  }
  EXPECT_EQ(ways.size(), 7u) << testing::PrintToString(ways);
}

TEST(Plant, GetsLostCoresBack) {
  Plant plant = Plant::of(photograph_parts(1e-3));
  const double before = plant.best().throughput;
  bool lost = false, back = false;
  for (std::uint64_t seed = 1; seed < 1000 && !back; ++seed) {
    Plant next = plant;
    const std::string what = next.change(seed);
    if (!lost && what.ends_with("cores are lost")) {
      plant = next;
      lost = true;
      EXPECT_LT(plant.best().throughput, 0.8 * before);
    } else if (lost && what == "the cores come back") {
      EXPECT_DOUBLE_EQ(next.best().throughput, before);
      back = true;
    }
  }
  EXPECT_TRUE(back);
}

TEST(Plant, IsDisturbedForSoManyWindows) {
  Plant plant = Plant::of(photograph_parts(1e-3));
  const KnobSetting knobs{4, 3, 8, 32};
  const double before = plant.throughput(knobs);
  plant.disturb(2, 3);
  for (int window = 0; window < 3; ++window) {
    EXPECT_LT(plant.throughput(knobs), 0.6 * before);
    EXPECT_LT(plant.best().throughput, 0.6 * before);
    plant.run(knobs);
  }
  EXPECT_DOUBLE_EQ(plant.throughput(knobs), before);
}

}  // namespace
}  // namespace stoker
