#include "stoker/tuner/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stoker/tuner/plant/plant_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

// Photographs that eight cores can feed to a slow step with ease.
PlantParts easy_parts() {
  PlantParts parts;
  parts.machine.cores = 8;
  parts.trainer = {.step_s = 100e-3, .cores = 0};
  parts.batch = 64;
  parts.coded_bytes = 110e3;
  parts.stages = {{.name = "decode", .cpu_s = 2e-3, .device_s = 0.1e-3, .bytes_out = 400e3},
                  {.name = "finish", .cpu_s = 1e-3, .device_s = 0.05e-3, .bytes_out = 600e3}};
  return parts;
}

// All settings of so many windows.
std::vector<KnobSetting> run(Plant& plant, Tuner& tuner, int windows) {
  std::vector<KnobSetting> all;
  for (int i = 0; i < windows; ++i) {
    all.push_back(tuner.knobs());
    tuner.see(plant.run(tuner.knobs()));
  }
  return all;
}

TEST(Tuner, LeavesFixedKnobsAsTheyAre) {
  Plant plant = Plant::of(easy_parts());
  for (int fixed = 0; fixed < 4; ++fixed) {
    TunerOptions options;
    if (fixed == 0) options.limits.fixed.threads = 3;
    if (fixed == 1) options.limits.fixed.transfer_index = 1;
    if (fixed == 2) options.limits.fixed.prefetch = 2;
    if (fixed == 3) options.limits.fixed.io_depth = 5;
    Tuner tuner(plant.workload(), std::move(options));
    std::set<int> values;
    for (const KnobSetting& knobs : run(plant, tuner, 60)) {
      values.insert(std::vector{knobs.threads, knobs.transfer_index, knobs.prefetch,
                                knobs.io_depth}[static_cast<std::size_t>(fixed)]);
    }
    EXPECT_THAT(values, testing::SizeIs(1)) << "knob " << fixed;
    EXPECT_TRUE(tuner.settled());
  }
}

TEST(Tuner, NeverGoesBeyondTheCeilingOfThreads) {
  PlantParts parts = easy_parts();
  parts.trainer.step_s = 1e-3;  // that nothing can feed
  Plant plant = Plant::of(parts);
  Tuner usual(plant.workload());
  for (const KnobSetting& knobs : run(plant, usual, 60)) EXPECT_LE(knobs.threads, 7);
  Tuner tuner(plant.workload(), {.limits = {.threads_max = 3}});
  for (const KnobSetting& knobs : run(plant, tuner, 60)) EXPECT_LE(knobs.threads, 3);
}

TEST(Tuner, FollowsACeilingThatMoves) {
  PlantParts parts = easy_parts();
  parts.trainer.step_s = 1e-3;
  parts.stages[0].device_s.reset();  // decoding is the CPU's, so threads are what counts
  Plant plant = Plant::of(parts);
  Tuner tuner(plant.workload());
  run(plant, tuner, 60);
  const int before = tuner.knobs().threads;
  EXPECT_GT(before, 2);
  tuner.limit_threads(2);
  for (const KnobSetting& knobs : run(plant, tuner, 60)) EXPECT_LE(knobs.threads, 2);
  EXPECT_TRUE(tuner.settled());

  // There are more again, and it waits for want of them.
  tuner.limit_threads(before);
  EXPECT_FALSE(tuner.settled());
  run(plant, tuner, 60);
  EXPECT_GT(tuner.knobs().threads, 2);
  EXPECT_TRUE(tuner.settled());
}

TEST(Tuner, BeginsWithWhatWasFoundBeforeIfItIsPermitted) {
  const Plant plant = Plant::of(easy_parts());
  const KnobSetting found = {.threads = 5, .transfer_index = 1, .prefetch = 2, .io_depth = 4};
  Tuner tuner(plant.workload(), {.start = found, .start_is = "as last time"});
  EXPECT_EQ(tuner.knobs(), found);
  EXPECT_THAT(tuner.why(), HasSubstr("I/O depth 4: as last time"));
  Tuner tight(plant.workload(), {.limits = {.threads_max = 2}, .start = found});
  EXPECT_EQ(tight.knobs().threads, 2);
  EXPECT_EQ(tight.knobs().transfer_index, 1);
}

TEST(Tuner, SettlesForGoodIfThatIsWanted) {
  Plant plant = Plant::of(easy_parts());
  Tuner tuner(plant.workload(), {.once = true});
  run(plant, tuner, 60);
  ASSERT_TRUE(tuner.settled());
  const KnobSetting settled = tuner.knobs();
  plant.change(3);
  for (const KnobSetting& knobs : run(plant, tuner, 60)) EXPECT_EQ(knobs, settled);
}

TEST(Tuner, SaysWhyInOneSentenceWithNumbers) {
  Plant plant = Plant::of(easy_parts());
  Tuner tuner(plant.workload());
  for (int i = 0; i < 60; ++i) {
    EXPECT_THAT(tuner.why(), testing::ContainsRegex("[0-9]+ threads? at index [0-9]"));
    EXPECT_THAT(tuner.why(), testing::Not(HasSubstr("\n")));
    tuner.see(plant.run(tuner.knobs()));
  }
  EXPECT_THAT(tuner.why(), HasSubstr("the consumer waits"));
}

TEST(Tuner, NamesNoIndexWhereThereIsNoDeviceAndWritesRatesInFull) {
  TunedWorkload work;
  work.cores = 8, work.batch = 400, work.prefetch_max = 16, work.io_depth_max = 256;
  work.stages.resize(2);
  work.stages[0].name = "decode", work.stages[0].cpu_s = 3e-4, work.stages[0].bytes_out = 1e5;
  work.stages[1].name = "color", work.stages[1].cpu_s = 5e-5, work.stages[1].bytes_out = 1e6;
  Tuner tuner(work, {.limits = {.fixed = {.transfer_index = 2}}});
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(tuner.why(), testing::ContainsRegex("[0-9]+ threads?, prefetch [0-9]+, I/O depth"));
    EXPECT_THAT(tuner.why(), testing::Not(testing::ContainsRegex("index|[0-9]e[+]")));
    EXPECT_THAT(tuner.why(), testing::ContainsRegex("[0-9]+,[0-9]{3}(/s| samples/s)"));
    const double rate = tuner.knobs().threads / 3.5e-4;
    tuner.see({.samples = static_cast<std::int64_t>(rate),
               .seconds = 1,
               .wait_s = 0.5,
               .step_s = 200 / rate,
               .stages = {{"decode", StageSide::kCpu, rate * 3e-4}, {"color", StageSide::kCpu, rate * 5e-5}}});
  }
  tuner.limit_threads(1);
  EXPECT_THAT(tuner.why(), HasSubstr(": 1 thread may be used now, instead of 7"));
}

// A step that nothing can feed.
PlantParts hungry_parts() {
  PlantParts parts = easy_parts();
  parts.trainer.step_s = 1e-3;
  return parts;
}

TEST(Tuner, TriesDepthsToEitherSideWhereReadingHoldsItBack) {
  PlantParts parts = hungry_parts();
  parts.io_depth_max = 64;
  parts.store = {.latency_s = 20e-3, .bytes_per_s = 1e12, .knee = 8, .decline = 1};  // crowded beyond eight reads
  Plant plant = Plant::of(parts);
  Tuner tuner(plant.workload());
  const std::vector<KnobSetting> all = run(plant, tuner, 60);
  ASSERT_TRUE(tuner.settled());
  const KnobSetting settled = tuner.knobs();
  EXPECT_EQ(plant_rates(parts, {}, settled).limit, PlantLimit::kStore);
  EXPECT_GT(plant.throughput(settled), 0.97 * plant.best().throughput);
  std::set<int> depths;
  for (const KnobSetting& knobs : all) {
    if (knobs.transfer_index == settled.transfer_index) depths.insert(knobs.io_depth);
  }
  EXPECT_THAT(depths, testing::IsSupersetOf({settled.io_depth / 2, settled.io_depth * 2}));
}

TEST(Tuner, TriesTheIndicesBesideTheOneItChooses) {
  for (const double device_speed : {2.0, 20.0}) {
    PlantParts parts = photograph_parts(device_speed);
    parts.trainer.step_s = 1e-3;
    Plant plant = Plant::of(parts);
    Tuner tuner(plant.workload());
    const std::vector<KnobSetting> all = run(plant, tuner, 60);
    ASSERT_TRUE(tuner.settled());
    const KnobSetting settled = tuner.knobs();
    std::set<int> indices;
    for (const KnobSetting& knobs : all) indices.insert(knobs.transfer_index);
    for (const int index : {settled.transfer_index - 1, settled.transfer_index + 1}) {
      if (index < 0 || index > static_cast<int>(parts.stages.size())) continue;
      EXPECT_THAT(indices, testing::Contains(index)) << tuner.why();
    }
  }
}

TEST(Tuner, DoesNotSearchAgainForALittle) {
  Plant plant = Plant::of(easy_parts());
  Tuner tuner(plant.workload());
  run(plant, tuner, 60);
  ASSERT_TRUE(tuner.settled());
  for (const double times : {1.04, 1.5}) {
    PlantParts parts = easy_parts();
    parts.trainer.step_s *= times;
    Plant changed = Plant::of(parts);
    bool settled = true;
    for (int i = 0; i < 20; ++i) {
      tuner.see(changed.run(tuner.knobs()));
      settled = settled && tuner.settled();
    }
    EXPECT_EQ(settled, times < 1.05);
  }
}

// Compilation and warm-up end while it searches: steps get shorter; then images get larger. What fed the steps before
// is far from feeding them now.
TEST(Tuner, FindsTheBestThoughStepsGetShorterWhileItSearches) {
  for (int window = 1; window < 30; window += 2) {
    PlantParts parts;
    parts.machine.cores = 32;
    parts.batch = 400;
    parts.trainer = {.step_s = 0.5, .cores = 0};
    parts.stages = {{.name = "decode", .cpu_s = 8e-3, .bytes_out = 400e3},
                    {.name = "finish", .cpu_s = 2e-3, .bytes_out = 600e3}};
    parts.measuring.noise = 0.01;
    Plant before = Plant::of(parts);
    Tuner tuner(before.workload());
    run(before, tuner, window);
    parts.trainer.step_s /= 2.5;
    for (PlantStage& stage : parts.stages) stage.cpu_s *= 1.5;
    Plant plant = Plant::of(parts);
    run(plant, tuner, 60);
    EXPECT_TRUE(tuner.settled());
    EXPECT_GT(plant.throughput(tuner.knobs()), 0.97 * plant.best().throughput) << window << ": " << tuner.why();
  }
}

// Of what could help: more threads, the other indices, more ahead, more and fewer reads at once.
TEST(Tuner, TurnsEachKnobThatCouldHelpBeforeItRestsWhileTrainingWaits) {
  for (const std::uint64_t seed : {4, 12, 31, 82, 115, 240}) {
    Plant plant = Plant::random(seed);
    Tuner tuner(plant.workload());
    plant.change(seed);
    std::vector<KnobSetting> all;
    for (int i = 0; i < 200 && !tuner.settled(); ++i) all.push_back(run(plant, tuner, 1).front());
    ASSERT_TRUE(tuner.settled()) << seed;
    const KnobSetting settled = tuner.knobs();
    if (plant.rates(settled).step_s * plant.throughput(settled) > 0.98 * plant.workload().batch) continue;  // it is fed
    std::set<int> tried;
    for (const KnobSetting& knobs : all) tried.insert(knobs.transfer_index);
    for (const int index : plant.indices()) {
      if (!plant.allowed({.transfer_index = index})) continue;
      EXPECT_THAT(tried, testing::Contains(index)) << seed << ": " << tuner.why();
    }
  }
}

// The device would do what the threads do, if the link let more than a little through.
PlantParts narrow_parts() {
  PlantParts parts = hungry_parts();
  parts.trainer.step_s = 15e-3;
  parts.stages[0].device_s = 0.5e-3;
  parts.machine.copy_bytes_per_s = 0.4e9;
  return parts;
}

// A link that gets wider shows only where something crosses it that was too much for it.
TEST(Tuner, FindsThatALinkHasBecomeWider) {
  PlantParts parts = narrow_parts();
  Plant narrow = Plant::of(parts);
  Tuner tuner(narrow.workload());
  run(narrow, tuner, 60);
  ASSERT_TRUE(tuner.settled());
  parts.machine.copy_bytes_per_s = 16e9;
  Plant wide = Plant::of(parts);
  ASSERT_LT(wide.throughput(tuner.knobs()), 0.9 * wide.best().throughput) << tuner.why();
  run(wide, tuner, 160);
  EXPECT_GT(wide.throughput(tuner.knobs()), 0.97 * wide.best().throughput) << tuner.why();
}

TEST(Tuner, LooksElsewhereEverMoreRarelyWhileTrainingWaits) {
  Plant plant = Plant::of(narrow_parts());
  Tuner tuner(plant.workload());
  for (int i = 0; i < 200 && !tuner.settled(); ++i) run(plant, tuner, 1);
  ASSERT_TRUE(tuner.settled());
  const KnobSetting settled = tuner.knobs();
  std::vector<int> looks;
  for (int i = 0; i < 600; ++i) {
    if (run(plant, tuner, 1).front() != settled) looks.push_back(i);
    EXPECT_EQ(tuner.settled_on(), settled) << "also while it looks elsewhere";
  }
  ASSERT_GE(looks.size(), 3U);
  EXPECT_LE(looks.front(), 45);
  EXPECT_THAT(looks, testing::SizeIs(testing::Le(5)));
  EXPECT_GT(looks[2] - looks[1], looks[1] - looks[0]);
}

TEST(Tuner, ComparesWhatItTriedFirstWithItselfBeforeItRests) {
  for (const std::uint64_t seed : {4, 31, 115}) {
    Plant plant = Plant::random(seed);
    Tuner tuner(plant.workload());
    int compared = 0;
    for (int i = 0; i < 200 && !tuner.settled(); ++i) {
      run(plant, tuner, 1);
      compared += tuner.why().find("before settling") != std::string::npos;
    }
    EXPECT_TRUE(tuner.settled());
    EXPECT_EQ(compared, 1) << seed;
  }
}

// Where many threads were the first, they take the training's cores and each other's, and no window of theirs says that
// fewer would do.
TEST(Tuner, TriesFewerThreadsBeforeItRests) {
  PlantParts parts = easy_parts();
  parts.machine.cores = 32;
  parts.machine.second_thread = 0.2;
  parts.trainer = {.step_s = 50e-3, .cores = 2, .host_share = 0.6};
  parts.measuring.busy_counts_contention = true;
  Plant plant = Plant::of(parts);
  const KnobSetting many = {.threads = 26, .transfer_index = 2, .prefetch = 4, .io_depth = 16};
  ASSERT_LT(plant.throughput(many), 0.9 * plant.best().throughput);
  Tuner tuner(plant.workload(), {.start = many, .start_is = "as last time"});
  run(plant, tuner, 60);
  EXPECT_TRUE(tuner.settled());
  EXPECT_GT(plant.throughput(tuner.knobs()), 0.97 * plant.best().throughput) << tuner.why();
}

// With little prefetch no more than a few reads are under way, whatever the depth: that a smaller one does as well does
// not mean that a still smaller one does.
TEST(Tuner, GoesOnToSmallerDepthsWhereTheyDoAsWell) {
  PlantParts parts = hungry_parts();
  parts.io_depth_max = 64;
  parts.prefetch_max = 1;
  parts.store = {.latency_s = 20e-3, .samples_per_read = 16, .bytes_per_s = 60e6, .knee = 2, .decline = 0.5};
  Plant plant = Plant::of(parts);
  const KnobSetting deep = {.threads = 2, .transfer_index = 0, .prefetch = 1, .io_depth = 64};
  const KnobSetting half = {.threads = 2, .transfer_index = 0, .prefetch = 1, .io_depth = 16};
  ASSERT_EQ(plant.throughput(deep), plant.throughput(half));
  ASSERT_LT(plant.throughput(deep), 0.8 * plant.best().throughput);
  Tuner tuner(plant.workload(), {.start = deep, .start_is = "as last time"});
  run(plant, tuner, 60);
  EXPECT_TRUE(tuner.settled());
  EXPECT_GT(plant.throughput(tuner.knobs()), 0.97 * plant.best().throughput) << tuner.why();
}

// One thread at the next index says nothing of that index where it needs four.
TEST(Tuner, TriesAnotherIndexWithAsManyThreadsAsItNeeds) {
  Plant plant = Plant::random(90135);
  plant.change(90135);
  Tuner tuner(plant.workload());
  run(plant, tuner, 60);
  EXPECT_TRUE(tuner.settled());
  EXPECT_GT(plant.throughput(tuner.knobs()), 0.97 * plant.best().throughput) << tuner.why();
}

TEST(Tuner, IsNotDisturbedByAWindowWithoutSamples) {
  Plant plant = Plant::of(easy_parts());
  Tuner tuner(plant.workload());
  run(plant, tuner, 5);
  const KnobSetting before = tuner.knobs();
  tuner.see({.samples = 0, .seconds = 1, .wait_s = 1, .step_s = 0, .stages = {}});
  EXPECT_EQ(tuner.knobs(), before);
}

TEST(Tuner, UsesTheLeastWhereNothingFitsIntoMemory) {
  PlantParts parts = easy_parts();
  const Plant plant = Plant::of(parts);
  TunedWorkload workload = plant.workload();
  workload.memory_bytes = 1;
  Tuner tuner(workload);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(tuner.knobs().prefetch, 1);
    tuner.see({.samples = 640, .seconds = 1, .wait_s = 0.1, .step_s = 0.09, .stages = {}});
  }
}

}  // namespace
}  // namespace stoker
