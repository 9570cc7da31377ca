// A loader's ring as a simulation of events: reads under way at once, workers, batches made ahead, and GPUs that wait
// for each other at every step. It shows what means hide: a slow sample holds its batch up, a batch its step, and a
// step all GPUs.
#pragma once

#include <cstdint>

#include "stoker/capacity/rates.h"
#include "stoker/doctor/model/quantiles.h"

namespace stoker {

/// Each GPU has a ring of its own; what reads, and what copies, is shared by all of them.
struct Ring {
  int gpus = 1;
  int batch = 1;                // samples of each GPU's step
  double step_s = 0;            // 0: batches are taken as they come
  int prefetch = 2;             // batches made ahead of the one that was taken
  int workers = 1;              // of each ring
  Quantiles sample_s{{0.0}};    // of a worker, for a sample
  int read_depth = 1;           // of each ring
  std::int64_t read_ahead = 0;  // samples that may be read before there is memory for their batch; at least one batch's
  double read_share = 0;        // of the samples; the others are in memory
  Quantiles read_s{{0.0}};      // of a read
  double reads_per_s = kUnlimited;  // of all rings together, at any depth
  double copy_s = 0;                // of a batch to its GPU, after which the next may be copied
};

struct RingOutcome {
  double samples_per_s = 0;               // of all GPUs
  double idle = 0;                        // share of the GPUs' time
  double wait_s_p50 = 0, wait_s_p95 = 0;  // of a step for its batches
};

/// Always the same for the same ring. It takes some milliseconds: of large batches it draws several samples as one,
/// with their mean and their variance.
RingOutcome simulate(const Ring& ring, std::uint64_t seed = 1);

}  // namespace stoker
