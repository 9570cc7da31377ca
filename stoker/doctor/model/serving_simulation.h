// Inference as a simulation: requests come as they like, workers decode them, and each GPU that is free takes what
// waits, as a batch. It shows how long requests take at a load.
#pragma once

#include <cstdint>

#include "stoker/doctor/model/quantiles.h"

namespace stoker {

struct Serving {
  double requests_per_s = 1;  // on average; they come independently of each other
  int workers = 1;
  Quantiles sample_s{{0.0}};  // of a worker
  double read_share = 0;      // of the requests: their data are read first
  Quantiles read_s{{0.0}};
  int gpus = 1, batch = 1;  // of each, at most; one with fewer samples takes as long
  double step_s = 0;
};

struct ServingOutcome {
  double latency_s_p50 = 0, latency_s_p99 = 0;
};

/// Always the same for the same question.
ServingOutcome simulate(const Serving& serving, std::uint64_t seed = 1);

}  // namespace stoker
