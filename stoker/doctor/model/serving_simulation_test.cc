#include "stoker/doctor/model/serving_simulation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace stoker {
namespace {

TEST(ServingSimulation, WithoutLoadItTakesTheWorkItself) {
  Serving serving{.requests_per_s = 1, .workers = 4, .sample_s = Quantiles({5e-3}), .batch = 8, .step_s = 20e-3};
  serving.read_share = 1;
  serving.read_s = Quantiles({30e-3});
  const ServingOutcome outcome = simulate(serving);
  EXPECT_NEAR(outcome.latency_s_p50, 55e-3, 1e-4);
  EXPECT_LT(outcome.latency_s_p99, 80e-3);
}

// One GPU that takes one at a time, always as long: a queue of type M/D/1, whose mean wait is load / (2 (1 - load)) of
// the service. The wait's median is below that and its end above.
TEST(ServingSimulation, AQueueGrowsWithItsLoad) {
  Serving serving{.workers = 64, .step_s = 10e-3};
  double last = 0;
  for (const double load : {0.2, 0.5, 0.8, 0.9}) {
    serving.requests_per_s = load / serving.step_s;
    const ServingOutcome outcome = simulate(serving);
    const double mean_s = serving.step_s * (1 + load / 2 / (1 - load));
    EXPECT_LT(outcome.latency_s_p50, mean_s);
    EXPECT_GT(outcome.latency_s_p99, mean_s);
    EXPECT_GT(outcome.latency_s_p99, last);
    last = outcome.latency_s_p99;
  }
}

TEST(ServingSimulation, BatchesCarryMoreThanOneAtATime) {
  Serving serving{.requests_per_s = 300, .workers = 64, .batch = 8, .step_s = 10e-3};
  EXPECT_LT(simulate(serving).latency_s_p99, 30e-3);
  serving.gpus = 2;
  EXPECT_LT(simulate(serving).latency_s_p99, 21e-3);
}

// An exponential server, M/M/1: the latency's quantiles are those of an exponential distribution of mean 1 / (rate -
// load).
TEST(ServingSimulation, WorkersQueueAsTheoryHasIt) {
  std::vector<double> quantiles;
  for (int i = 0; i < 2000; ++i) quantiles.push_back(-1e-3 * std::log1p(-i / 2000.0));
  Serving serving{.requests_per_s = 500, .workers = 1, .sample_s = Quantiles(quantiles).scaled_to_mean(1e-3)};
  EXPECT_NEAR(simulate(serving).latency_s_p50, 2e-3 * std::log(2.0), 0.1e-3);
  EXPECT_NEAR(simulate(serving).latency_s_p99, 2e-3 * std::log(100.0), 0.8e-3);
}

}  // namespace
}  // namespace stoker
