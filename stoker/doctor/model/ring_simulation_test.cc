#include "stoker/doctor/model/ring_simulation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stoker {
namespace {

// The exponential distribution of this mean, as far as its last thousandth.
Quantiles exponential(double mean) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(-mean * std::log1p(-i / 1000.0));
  return Quantiles(values).scaled_to_mean(mean);
}

TEST(RingSimulation, WorkersAloneGiveTheirRate) {
  Ring ring{.batch = 32, .step_s = 1e-6, .workers = 4, .sample_s = Quantiles({2e-3})};
  EXPECT_NEAR(simulate(ring).samples_per_s, 2000, 1);
  EXPECT_NEAR(simulate(ring).idle, 1, 0.001);
}

TEST(RingSimulation, TheSlowerOfWorkersAndStepGivesTheRate) {
  Ring ring{.batch = 32, .step_s = 0.1, .workers = 4, .sample_s = Quantiles({2e-3})};
  EXPECT_NEAR(simulate(ring).samples_per_s, 320, 0.1);  // 16 ms of work for each step
  EXPECT_NEAR(simulate(ring).idle, 0, 1e-9);
  EXPECT_NEAR(simulate(ring).wait_s_p95, 0, 1e-9);
  ring.step_s = 0.01;
  EXPECT_NEAR(simulate(ring).samples_per_s, 2000, 1);
  EXPECT_NEAR(simulate(ring).idle, 1 - 10.0 / 16, 0.001);
  EXPECT_NEAR(simulate(ring).wait_s_p50, 6e-3, 1e-5);
}

TEST(RingSimulation, WorkersThatDoNotDivideTheBatchGoOnWithTheNextOne) {
  Ring ring{.batch = 10, .step_s = 1e-6, .prefetch = 4, .workers = 3, .sample_s = Quantiles({3e-3})};
  EXPECT_NEAR(simulate(ring).samples_per_s, 1000, 5);
}

TEST(RingSimulation, ReadsAreHeldByTheirLatencyAndByTheDevice) {
  Ring ring{.batch = 64, .step_s = 1e-6, .prefetch = 4, .workers = 64};
  ring.read_share = 1;
  ring.read_depth = 16;
  ring.read_s = Quantiles({0.032});
  EXPECT_NEAR(simulate(ring).samples_per_s, 500, 3);  // 16 of them in 32 ms
  ring.read_ahead = 1000;
  EXPECT_NEAR(simulate(ring).samples_per_s, 500, 3);
  ring.read_ahead = 0;
  ring.reads_per_s = 200;
  EXPECT_NEAR(simulate(ring).samples_per_s, 200, 1);
  ring.reads_per_s = kUnlimited;
  ring.read_share = 0.25;
  EXPECT_NEAR(simulate(ring).samples_per_s, 2000, 60);
}

TEST(RingSimulation, ReadingFarAheadHidesSlowReads) {
  Ring ring{.batch = 4, .step_s = 10e-3, .prefetch = 1, .workers = 4};
  ring.read_share = 1;
  ring.read_depth = 64;
  ring.read_s = exponential(10e-3);
  EXPECT_GT(simulate(ring).idle, 0.1);
  ring.read_ahead = 256;
  EXPECT_LT(simulate(ring).idle, 0.01);
}

TEST(RingSimulation, DrawingSeveralSamplesAsOneKeepsTheRates) {
  // 512 samples of 2 workers are drawn in groups of 32.
  Ring ring{.batch = 512, .step_s = 1e-6, .workers = 2, .sample_s = exponential(1e-3)};
  EXPECT_NEAR(simulate(ring).samples_per_s, 2000, 20);
  ring.workers = 512;
  ring.sample_s = Quantiles({0.0});
  ring.read_share = 1;
  ring.read_depth = 7;
  ring.read_s = exponential(0.007);
  EXPECT_NEAR(simulate(ring).samples_per_s, 1000, 15);
}

// With one batch ahead, a batch is begun when the one before it is taken: a step waits for the longer of the two.
TEST(RingSimulation, OneBatchAheadWaitsForEverySlowOne) {
  Ring ring{.batch = 1, .step_s = 1e-3, .prefetch = 1, .workers = 1, .sample_s = exponential(1e-3)};
  const double period_s = 1e-3 * (1 + std::exp(-1.0));
  EXPECT_NEAR(simulate(ring).samples_per_s, 1 / period_s, 0.01 / period_s);
  EXPECT_NEAR(simulate(ring).idle, 1 - 1e-3 / period_s, 0.01);
}

TEST(RingSimulation, ManyBatchesAheadEvenSlowOnesOut) {
  Ring ring{.batch = 1, .step_s = 1e-3, .prefetch = 64, .workers = 1, .sample_s = exponential(0.8e-3)};
  EXPECT_LT(simulate(ring).idle, 0.02);
  ring.prefetch = 1;
  EXPECT_GT(simulate(ring).idle, 0.15);
}

TEST(RingSimulation, AllGpusWaitForTheSlowestOfThem) {
  Ring ring{.gpus = 2, .batch = 1, .step_s = 1e-3, .prefetch = 1, .workers = 1, .sample_s = exponential(1e-3)};
  // The mean of the longest of the step and two exponential times.
  const double period_s = 1e-3 * (1 + 2 * std::exp(-1.0) - std::exp(-2.0) / 2);
  EXPECT_NEAR(simulate(ring).samples_per_s, 2 / period_s, 0.02 / period_s);
}

TEST(RingSimulation, CopiesFollowEachOther) {
  Ring ring{.batch = 16, .step_s = 1e-6, .prefetch = 4, .workers = 4, .sample_s = Quantiles({1e-3})};
  ring.copy_s = 8e-3;
  EXPECT_NEAR(simulate(ring).samples_per_s, 2000, 5);
  ring.copy_s = 1e-3;
  EXPECT_NEAR(simulate(ring).samples_per_s, 4000, 5);
}

TEST(RingSimulation, IsTheSameEveryTime) {
  Ring ring{.gpus = 3, .batch = 20, .step_s = 5e-3, .workers = 2, .sample_s = exponential(0.5e-3)};
  ring.read_share = 0.5;
  ring.read_depth = 8;
  ring.read_s = exponential(2e-3);
  const RingOutcome first = simulate(ring), second = simulate(ring), other = simulate(ring, 2);
  EXPECT_EQ(first.samples_per_s, second.samples_per_s);
  EXPECT_EQ(first.wait_s_p95, second.wait_s_p95);
  EXPECT_NE(first.samples_per_s, other.samples_per_s);
  EXPECT_NEAR(first.samples_per_s, other.samples_per_s, 0.02 * first.samples_per_s);
}

}  // namespace
}  // namespace stoker
