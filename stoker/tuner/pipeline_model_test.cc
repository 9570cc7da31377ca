#include "stoker/tuner/pipeline_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace stoker {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Sixteen cores, of which 13 may work, and a device that is much faster than they are.
TunedWorkload workload() {
  TunedWorkload work;
  work.cores = 16;
  work.batch = 100;
  work.stages = {{.name = "decode", .cpu_s = 1e-3, .device_s = 20e-6, .bytes_out = 400e3},
                 {.name = "resize", .cpu_s = 1e-3, .device_s = 10e-6, .bytes_out = 200e3},
                 {.name = "finish", .cpu_s = 0.5e-3, .device_s = 5e-6, .bytes_out = 600e3}};
  work.prefetch_max = 16;
  work.io_depth_max = 64;
  return work;
}

KnobSetting knobs(int threads, int index, int io_depth = 32) {
  return {.threads = threads, .transfer_index = index, .prefetch = 16, .io_depth = io_depth};
}

// A machine made up of the stated costs and of what is changed here.
struct Machine {
  TunedWorkload work = workload();
  std::function<double(const KnobSetting&)> cpu_times = [](const KnobSetting& /*knobs*/) { return 1; };
  double device_times = 1;
  std::function<double(const KnobSetting&)> step_s = [](const KnobSetting& /*knobs*/) { return 1e-3; };
  std::function<double(const KnobSetting&)> rate{};  // empty: as fast as the threads can

  double cpu_s(const KnobSetting& at) const {
    double sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(at.transfer_index); ++i) sum += work.stages[i].cpu_s;
    return sum * cpu_times(at);
  }
  double cpu_rate(const KnobSetting& at) const { return at.transfer_index == 0 ? kInfinite : at.threads / cpu_s(at); }

  TunerWindow window(const KnobSetting& at) const {
    const double most = 1 / (step_s(at) / work.batch);
    const double samples = 1e6, seconds = samples / std::min(rate ? rate(at) : cpu_rate(at), most);
    TunerWindow window{
        .samples = static_cast<std::int64_t>(samples), .seconds = seconds, .wait_s = 0, .step_s = 0, .stages = {}};
    window.step_s = step_s(at);
    window.wait_s = std::max(0.0, seconds - samples / work.batch * step_s(at));
    for (std::size_t i = 0; i < work.stages.size(); ++i) {
      const TunedStage& stage = work.stages[i];
      const bool on_cpu = static_cast<int>(i) < at.transfer_index;
      window.stages.push_back({stage.name, on_cpu ? StageSide::kCpu : StageSide::kDevice,
                               samples * (on_cpu ? stage.cpu_s * cpu_times(at) : *stage.device_s * device_times)});
    }
    return window;
  }
};

PipelineModel::Rate rate_of(const KnobSetting& at, const TunerWindow& window) {
  return {at, {std::log(static_cast<double>(window.samples) / window.seconds), 0}, window.wait_s / window.seconds};
}

// What one window of each shows.
PipelineModel learnt(const Machine& machine, const std::vector<KnobSetting>& settings) {
  PipelineModel model(machine.work);
  std::vector<PipelineModel::Rate> rates;
  for (const KnobSetting& at : settings) {
    const TunerWindow window = machine.window(at);
    const auto is_this = [&](const PipelineModel::Rate& rate) { return rate.knobs == at; };
    if (std::none_of(rates.begin(), rates.end(), is_this)) rates.push_back(rate_of(at, window));
    model.learn(at, window, rates);
  }
  return model;
}

// How far off, as a part.
double off(double found, double truth) { return std::abs(std::log(found / truth)); }

// --- What a pipeline can do, of what its resources can

TEST(PipelineCapacity, IsTheLeastOfItsResources) {
  PipelineCapacity capacity;
  capacity.rates.fill(kInfinite);
  EXPECT_EQ(capacity.throughput(), kInfinite);
  capacity[Resource::kCopy] = 100;
  EXPECT_EQ(capacity.limit(), Resource::kCopy);
  EXPECT_DOUBLE_EQ(capacity.throughput(), 100);
  capacity[Resource::kStore] = 50;
  EXPECT_EQ(capacity.limit(), Resource::kStore);
  EXPECT_NEAR(capacity.throughput(), 50, 0.01);
}

TEST(PipelineCapacity, IsALittleLessWhereSeveralAreNearTheLeast) {
  PipelineCapacity capacity;
  capacity.rates.fill(kInfinite);
  capacity[Resource::kCopy] = capacity[Resource::kCpu] = 100;
  const double of_two = capacity.throughput();
  EXPECT_LT(of_two, 97);
  EXPECT_GT(of_two, 90);
  capacity[Resource::kStore] = 110;
  EXPECT_LT(capacity.throughput(), of_two);
}

TEST(PipelineCapacity, HasAWordForEveryResource) {
  std::vector<std::string> words;
  for (int i = 0; i < static_cast<int>(Resource::kCount); ++i) {
    words.emplace_back(word_of(static_cast<Resource>(i)));
    EXPECT_FALSE(words.back().empty());
  }
  std::sort(words.begin(), words.end());
  EXPECT_EQ(std::unique(words.begin(), words.end()), words.end());
}

// --- Before any window

TEST(PipelineModel, GoesByStatedCostsBeforeAnyWindow) {
  const PipelineModel model(workload());
  const PipelineCapacity capacity = model.capacity(knobs(4, 2));
  EXPECT_LT(off(capacity[Resource::kCpu], 4 / 2e-3), 0.01);
  EXPECT_LT(off(capacity[Resource::kDevice], 1 / 5e-6), 0.01);
  EXPECT_EQ(capacity[Resource::kConsumer], kInfinite);
  EXPECT_EQ(capacity[Resource::kOther], kInfinite);
  EXPECT_EQ(capacity.limit(), Resource::kCpu);
  EXPECT_EQ(model.step_s(knobs(4, 2)), std::nullopt);
}

TEST(PipelineModel, ThinksWellOfWhatIsNotKnown) {
  const PipelineModel model(workload());
  for (int index = 0; index <= 3; ++index) {
    const PipelineCapacity capacity = model.capacity(knobs(1, index, 1));
    EXPECT_GT(capacity[Resource::kStore], 1e6);
    EXPECT_GT(capacity[Resource::kCopy], 50e3) << index;
  }
}

TEST(PipelineModel, NeedsNoThreadsForWhatTheDeviceDoesAndNoDeviceForTheRest) {
  const PipelineModel model(workload());
  EXPECT_GT(model.capacity(knobs(1, 0))[Resource::kCpu], 1e9);
  EXPECT_EQ(model.capacity(knobs(1, 3))[Resource::kDevice], kInfinite);
  EXPECT_NEAR(model.device_s(0), 35e-6, 1e-12);
  EXPECT_NEAR(model.device_s(2), 5e-6, 1e-12);
  EXPECT_EQ(model.device_s(3), 0);
}

TEST(PipelineModel, LosesALittleWhereFewBatchesAreMadeAhead) {
  const PipelineModel model(workload());
  double before = 0;
  for (int prefetch = 1; prefetch <= 16; prefetch *= 2) {
    KnobSetting at = knobs(4, 2);
    at.prefetch = prefetch;
    const double now = model.capacity(at)[Resource::kCpu];
    EXPECT_GT(now, before);
    EXPECT_GT(now, 0.8 * 4 / 2e-3);
    before = now;
  }
}

// --- What windows show

TEST(PipelineModel, PutsAStagesCostRight) {
  Machine machine;
  machine.cpu_times = [](const KnobSetting& /*knobs*/) { return 2; };
  const PipelineModel model = learnt(machine, {knobs(4, 2), knobs(8, 2)});
  EXPECT_LT(off(model.capacity(knobs(6, 1))[Resource::kCpu], 6 / 2e-3), 0.03);
  EXPECT_LT(off(model.capacity(knobs(6, 2))[Resource::kCpu], 6 / 4e-3), 0.03);
  // What was not seen is put right by half as much.
  EXPECT_LT(off(model.capacity(knobs(6, 3))[Resource::kCpu], 6 / (4e-3 + std::sqrt(2) * 0.5e-3)), 0.03);
}

TEST(PipelineModel, PutsTheDevicesCostsRight) {
  Machine machine;
  machine.device_times = 4;
  PipelineModel model = learnt(machine, {knobs(4, 1), knobs(4, 1)});
  EXPECT_LT(off(model.device_s(1), 4 * 15e-6), 1e-6);
  EXPECT_LT(off(model.device_s(0), 4 * 15e-6 + 2 * 20e-6), 1e-6);
  // One strange window does not change that.
  machine.device_times = 400;
  model.learn(knobs(4, 1), machine.window(knobs(4, 1)), {});
  EXPECT_LT(off(model.device_s(1), 4 * 15e-6), 1e-6);
}

TEST(PipelineModel, DoesNotMindStagesItWasNotToldOf) {
  const Machine machine;
  TunerWindow window = machine.window(knobs(4, 2));
  window.stages.push_back({"cook", StageSide::kCpu, 1e9});
  window.stages.push_back({"decode", StageSide::kDevice, 1e9});  // which the CPU does at this index
  PipelineModel model(machine.work);
  model.learn(knobs(4, 2), window, {});
  EXPECT_LT(off(model.capacity(knobs(4, 2))[Resource::kCpu], 4 / 2e-3), 0.03);
  EXPECT_NEAR(model.device_s(0), 35e-6, 1e-9);
}

TEST(PipelineModel, LearnsFromTheLastWindows) {
  Machine machine;
  PipelineModel model = learnt(machine, std::vector(20, knobs(4, 2)));
  machine.cpu_times = [](const KnobSetting& /*knobs*/) { return 2; };
  for (int i = 0; i < 48; ++i) model.learn(knobs(4, 2), machine.window(knobs(4, 2)), {});
  EXPECT_LT(off(model.capacity(knobs(4, 2))[Resource::kCpu], 4 / 4e-3), 0.01);
}

TEST(PipelineModel, TellsTheConsumersStep) {
  Machine machine;
  machine.step_s = [](const KnobSetting& /*knobs*/) { return 0.2; };
  const PipelineModel model = learnt(machine, {knobs(4, 3), knobs(8, 3)});
  ASSERT_TRUE(model.step_s(knobs(12, 3)));
  EXPECT_LT(off(*model.step_s(knobs(12, 3)), 0.2), 0.01);
  const PipelineCapacity capacity = model.capacity(knobs(12, 3));
  EXPECT_LT(off(capacity[Resource::kConsumer], 500), 0.01);
  EXPECT_EQ(capacity.limit(), Resource::kConsumer);
}

TEST(PipelineModel, FindsWhatKernelsTakeOfTheStep) {
  for (const double share : {0.0, 0.5, 1.0}) {
    Machine machine;
    machine.device_times = 10;  // 35 ms for a batch at index 0, 15 at 1, 5 at 2
    machine.step_s = [&](const KnobSetting& at) {
      constexpr double kKernels[] = {35e-3, 15e-3, 5e-3, 0};
      return 50e-3 + share * kKernels[at.transfer_index];
    };
    const PipelineModel model = learnt(machine, {knobs(8, 0), knobs(8, 2), knobs(8, 3), knobs(8, 0), knobs(8, 3)});
    EXPECT_LT(off(*model.step_s(knobs(8, 1)), 50e-3 + share * 15e-3), 0.01) << share;
    EXPECT_LT(off(*model.step_s(knobs(8, 0)), 50e-3 + share * 35e-3), 0.01) << share;
  }
}

TEST(PipelineModel, FindsThatThreadsLengthenTheStep) {
  Machine machine;
  machine.step_s = [](const KnobSetting& at) { return 50e-3 * (1 + 0.2 / 13 * (at.threads - 1)); };
  const PipelineModel model = learnt(machine, {knobs(1, 3), knobs(4, 3), knobs(10, 3), knobs(13, 3)});
  EXPECT_LT(off(*model.step_s(knobs(7, 3)), 50e-3 * (1 + 0.2 / 13 * 6)), 0.005);
  EXPECT_LT(off(*model.step_s(knobs(13, 3)), 50e-3 * (1 + 0.2 / 13 * 12)), 0.005);
}

TEST(PipelineModel, LearnsThatStepsGetLongerOnceMoreThreadsWorkThanHalfTheCores) {
  Machine machine;
  machine.step_s = [](const KnobSetting& at) { return 50e-3 * (1 + 0.6 / 13 * std::max(0, at.threads - 8)); };
  const PipelineModel model = learnt(machine, {knobs(1, 3), knobs(6, 3), knobs(10, 3), knobs(13, 3)});
  EXPECT_LT(off(*model.step_s(knobs(8, 3)), 50e-3), 0.01);
  EXPECT_LT(off(*model.step_s(knobs(11, 3)), 50e-3 * (1 + 0.6 / 13 * 3)), 0.01);
}

// --- What no window shows

// The threads and indices that a search may try, at two depths.
std::vector<KnobSetting> tried() {
  return {knobs(13, 3), knobs(4, 1),  knobs(13, 1),    knobs(8, 2),     knobs(2, 3),
          knobs(10, 2), knobs(13, 2), knobs(8, 1, 16), knobs(13, 3, 8), knobs(6, 3, 64)};
}

TEST(PipelineModel, AddsNothingHiddenWhereNothingIs) {
  const PipelineModel model = learnt(Machine{}, tried());
  for (const KnobSetting& at : {knobs(5, 1), knobs(9, 3), knobs(12, 2)}) {
    EXPECT_LT(off(model.capacity(at).throughput(), Machine{}.cpu_rate(at)), 0.03);
    EXPECT_EQ(model.capacity(at).limit(), Resource::kCpu);
    EXPECT_EQ(model.capacity(at)[Resource::kOther], kInfinite);
  }
}

TEST(PipelineModel, FindsWhatASampleCostsOutsideItsStages) {
  Machine machine;
  machine.rate = [&](const KnobSetting& at) { return at.threads / (machine.cpu_s(at) + 0.3e-3); };
  const PipelineModel model = learnt(machine, tried());
  for (const KnobSetting& at : {knobs(2, 1), knobs(12, 1), knobs(5, 2), knobs(9, 3)}) {
    EXPECT_LT(off(model.capacity(at).throughput(), machine.rate(at)), 0.06) << at.threads << " " << at.transfer_index;
    EXPECT_EQ(model.capacity(at).limit(), Resource::kCpu);
  }
}

TEST(PipelineModel, FindsThatThreadsOnTheSecondHalfOfTheCoresAreWorthLess) {
  Machine machine;
  machine.rate = [&](const KnobSetting& at) {
    return (std::min(at.threads, 8) + 0.1 * std::max(0, at.threads - 8)) / machine.cpu_s(at);
  };
  const PipelineModel model = learnt(machine, tried());
  for (const KnobSetting& at : {knobs(7, 1), knobs(9, 2), knobs(11, 3), knobs(12, 1)}) {
    EXPECT_LT(off(model.capacity(at).throughput(), machine.rate(at)), 0.06) << at.threads;
    EXPECT_EQ(model.capacity(at).limit(), Resource::kCpu) << at.threads;
  }
}

TEST(PipelineModel, FindsANarrowCopy) {
  Machine machine;
  machine.rate = [&](const KnobSetting& at) {
    constexpr double kBytes[] = {0, 400e3, 200e3, 600e3};
    return std::min(machine.cpu_rate(at), 0.6e9 / kBytes[at.transfer_index]);
  };
  const PipelineModel model = learnt(machine, tried());
  for (const KnobSetting& at : {knobs(9, 1), knobs(12, 2), knobs(12, 3)}) {
    EXPECT_LT(off(model.capacity(at).throughput(), machine.rate(at)), 0.1) << at.transfer_index;
    EXPECT_EQ(model.capacity(at).limit(), Resource::kCopy) << at.transfer_index;
  }
  // Coded images are small.
  EXPECT_EQ(model.capacity(knobs(9, 0))[Resource::kCopy], kInfinite);
}

TEST(PipelineModel, FindsAStoreOfFewReadsASecond) {
  Machine machine;
  machine.rate = [&](const KnobSetting& at) { return std::min(machine.cpu_rate(at), 1500.0); };
  const PipelineModel model = learnt(machine, tried());
  for (const KnobSetting& at : {knobs(9, 1), knobs(12, 2), knobs(12, 3, 16), knobs(5, 1, 64)}) {
    EXPECT_LT(off(model.capacity(at).throughput(), 1500), 0.1) << at.transfer_index;
    EXPECT_EQ(model.capacity(at).limit(), Resource::kStore) << at.transfer_index;
  }
}

TEST(PipelineModel, FindsAStoreThatIsSlowToAnswer) {
  Machine machine;
  machine.rate = [&](const KnobSetting& at) { return std::min(machine.cpu_rate(at), at.io_depth / 20e-3); };
  const PipelineModel model = learnt(machine, {knobs(13, 1, 4), knobs(13, 1, 8), knobs(8, 2, 8), knobs(13, 2, 16),
                                               knobs(13, 1, 32), knobs(6, 3, 32), knobs(13, 3, 16)});
  for (const KnobSetting& at : {knobs(12, 1, 6), knobs(12, 1, 24), knobs(10, 2, 8), knobs(10, 1, 64)}) {
    EXPECT_LT(off(model.capacity(at).throughput(), machine.rate(at)), 0.25) << at.io_depth;
    EXPECT_EQ(model.capacity(at).limit(), Resource::kStore) << at.io_depth;
  }
}

TEST(PipelineModel, FindsAStoreThatCrowdsAtDepth) {
  Machine machine;
  machine.rate = [&](const KnobSetting& at) {
    return std::min(machine.cpu_rate(at), 6000 / (1 + 0.1 * (at.io_depth - 1)));
  };
  const PipelineModel model = learnt(machine, {knobs(13, 1, 64), knobs(13, 1, 32), knobs(8, 2, 32), knobs(13, 2, 16),
                                               knobs(13, 1, 8), knobs(6, 3, 32), knobs(13, 3, 64)});
  for (const KnobSetting& at : {knobs(12, 1, 48), knobs(12, 1, 24), knobs(10, 3, 64), knobs(13, 1, 12)}) {
    EXPECT_LT(off(model.capacity(at).throughput(), machine.rate(at)), 0.15) << at.io_depth;
    EXPECT_EQ(model.capacity(at).limit(), Resource::kStore) << at.io_depth;
  }
}

TEST(PipelineModel, FindsThatEveryThreadMakesSamplesDearer) {
  Machine machine;
  machine.cpu_times = [](const KnobSetting& at) { return 1 + 0.1 * (at.threads - 1); };
  const PipelineModel model = learnt(machine, tried());
  for (const KnobSetting& at : {knobs(1, 1), knobs(5, 2), knobs(9, 3), knobs(12, 1)}) {
    EXPECT_LT(off(model.capacity(at).throughput(), machine.cpu_rate(at)), 0.05) << at.threads;
  }
}

TEST(PipelineModel, FindsThatAMemoryServesOnlySoManyThreads) {
  Machine machine;
  machine.cpu_times = [](const KnobSetting& at) { return std::max(1.0, at.threads / 6.0); };
  const PipelineModel model = learnt(machine, tried());
  for (const KnobSetting& at : {knobs(3, 1), knobs(5, 2), knobs(9, 3), knobs(12, 1)}) {
    EXPECT_LT(off(model.capacity(at).throughput(), machine.cpu_rate(at)), 0.1) << at.threads;
  }
}

TEST(PipelineModel, SaysOfAnIndexThatNothingExplainsThatSomethingElseHoldsIt) {
  Machine machine;
  machine.rate = [&](const KnobSetting& at) {
    return at.transfer_index == 2 ? std::min(machine.cpu_rate(at), 900.0) : machine.cpu_rate(at);
  };
  const PipelineModel model =
      learnt(machine, {knobs(13, 3), knobs(13, 1), knobs(13, 2), knobs(10, 2), knobs(8, 2), knobs(8, 1), knobs(10, 3)});
  EXPECT_LT(off(model.capacity(knobs(12, 2)).throughput(), 900), 0.1);
  EXPECT_EQ(model.capacity(knobs(12, 2)).limit(), Resource::kOther);
  EXPECT_EQ(model.capacity(knobs(12, 1))[Resource::kOther], kInfinite);
  EXPECT_LT(off(model.capacity(knobs(12, 1)).throughput(), 12 / 1e-3), 0.1);
}

TEST(PipelineModel, BlamesNothingWhereTheConsumerDoesNotWait) {
  Machine machine;
  machine.step_s = [](const KnobSetting& /*knobs*/) { return 0.2; };  // 500 samples/s
  const PipelineModel model = learnt(machine, tried());
  for (const KnobSetting& at : {knobs(9, 1), knobs(12, 2), knobs(12, 3)}) {
    EXPECT_EQ(model.capacity(at).limit(), Resource::kConsumer);
    EXPECT_EQ(model.capacity(at)[Resource::kOther], kInfinite);
    EXPECT_GT(model.capacity(at)[Resource::kStore], 1e6);
  }
}

TEST(PipelineModel, BlamesNothingForStepsThatAreLonger) {
  Machine machine;
  machine.step_s = [](const KnobSetting& at) { return at.transfer_index == 2 ? 0.3 : 0.2; };
  const PipelineModel model = learnt(machine, tried());
  EXPECT_EQ(model.capacity(knobs(12, 2))[Resource::kOther], kInfinite);
}

// --- Explanations

TEST(PipelineModel, HasExplanationsWhoseLikelihoodsAddUpToOne) {
  Machine machine;
  const auto check = [](const PipelineModel& model) {
    ASSERT_GT(model.explanations(), 0U);
    double sum = 0, most = 0;
    std::size_t likeliest = 0;
    for (std::size_t i = 0; i < model.explanations(); ++i) {
      EXPECT_GE(model.likelihood(i), 0);
      sum += model.likelihood(i);
      if (model.likelihood(i) > most) {
        most = model.likelihood(i);
        likeliest = i;
      }
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    const KnobSetting at = knobs(7, 1);
    EXPECT_EQ(model.capacity(at).rates, model.capacity(at, likeliest).rates);
  };
  check(PipelineModel(machine.work));
  machine.rate = [&](const KnobSetting& at) { return std::min(machine.cpu_rate(at), 1500.0); };
  check(learnt(machine, {knobs(4, 1)}));
  PipelineModel model = learnt(machine, tried());
  check(model);
  model.forget_windows();
  check(model);
}

TEST(PipelineModel, KeepsSeveralExplanationsUntilOneIsShown) {
  Machine machine;
  machine.rate = [&](const KnobSetting& at) { return std::min(machine.cpu_rate(at), 1500.0); };
  const PipelineModel early = learnt(machine, {knobs(13, 3)});  // slow for whatever reason
  for (std::size_t i = 0; i < early.explanations(); ++i) EXPECT_LT(early.likelihood(i), 0.5);
  // They do not agree on what another index would do.
  double least = kInfinite, fastest = 0;
  for (std::size_t i = 0; i < early.explanations(); ++i) {
    const double rate = early.capacity(knobs(13, 1), i).throughput();
    least = std::min(least, rate);
    fastest = std::max(fastest, rate);
  }
  EXPECT_GT(fastest, 2 * least);
}

TEST(PipelineModel, KnowsSeveralReasonsWhyStagesAreDearerThanStated) {
  Machine machine;
  machine.cpu_times = [](const KnobSetting& /*knobs*/) { return 2.2; };
  const PipelineModel model = learnt(machine, std::vector(4, knobs(13, 1)));
  // They are so on any thread; each thread more adds a tenth to all; a memory serves 5.9 threads.
  for (const double times : {2.2, 1 + 0.1 * 6, 7 / 5.9}) {
    double nearest = kInfinite;
    for (std::size_t i = 0; i < model.explanations(); ++i) {
      nearest = std::min(nearest, off(model.capacity(knobs(7, 1), i)[Resource::kCpu], 7 / (times * 1e-3)));
    }
    EXPECT_LT(nearest, 0.1) << times;
  }
}

TEST(PipelineModel, DoesNotExplainARateThatIsHardlyKnown) {
  const Machine machine;
  const TunerWindow window = machine.window(knobs(12, 1));
  PipelineModel::Rate slow = rate_of(knobs(12, 1), window);
  slow.log.mean -= 1;
  slow.wait_share = 0.9;
  PipelineModel model(machine.work);
  model.learn(knobs(12, 1), window, {slow});
  EXPECT_GT(off(model.capacity(knobs(12, 1)).throughput(), machine.cpu_rate(knobs(12, 1))), 0.9);
  slow.log.sd = 1;
  model.learn(knobs(12, 1), window, {slow});
  EXPECT_LT(off(model.capacity(knobs(12, 1)).throughput(), machine.cpu_rate(knobs(12, 1))), 0.1);
}

TEST(PipelineModel, ForgetsWindowsAndKeepsWhatCostsWereFoundToBe) {
  Machine machine;
  machine.cpu_times = [](const KnobSetting& /*knobs*/) { return 2; };
  machine.device_times = 4;
  machine.step_s = [](const KnobSetting& /*knobs*/) { return 50e-3; };
  machine.rate = [&](const KnobSetting& at) { return std::min(machine.cpu_rate(at), 1000.0); };
  PipelineModel model = learnt(machine, tried());
  EXPECT_EQ(model.capacity(knobs(12, 1)).limit(), Resource::kStore);
  model.forget_windows();
  EXPECT_LT(off(model.capacity(knobs(12, 2))[Resource::kCpu], 12 / 4e-3), 0.03);
  EXPECT_LT(off(model.device_s(1), 4 * 15e-6), 0.01);
  ASSERT_TRUE(model.step_s(knobs(12, 1)));
  EXPECT_LT(off(*model.step_s(knobs(12, 3)), 50e-3), 0.01);
  // What was thought to hide behind the rates is open again.
  EXPECT_GT(model.capacity(knobs(12, 1))[Resource::kStore], 1e6);
  // Costs that are shown anew replace them; the others stay.
  machine.cpu_times = [](const KnobSetting& /*knobs*/) { return 3; };
  model.learn(knobs(12, 1), machine.window(knobs(12, 1)), {});
  EXPECT_LT(off(model.capacity(knobs(12, 1))[Resource::kCpu], 12 / 3e-3), 0.03);
  EXPECT_LT(off(model.capacity(knobs(12, 2))[Resource::kCpu], 12 / 5e-3), 0.03);
}

}  // namespace
}  // namespace stoker
