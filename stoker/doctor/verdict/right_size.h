// Which machine the work needs: for training, for inference and for preprocessing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/model/prediction.h"
#include "stoker/doctor/verdict/catalogue.h"

namespace stoker {

struct TrainingSize {
  bool reachable = true;           // that all GPUs are fed; else what follows comes nearest
  double vcpus_per_gpu = 0;        // the fewest with which a GPU is idle less than 5% of its time
  std::uint64_t memory_bytes = 0;  // the least of the sizes 2^n GiB with which that holds
  std::string disk{};     // the slowest class of the catalogue with which that holds; empty: data come from a store
  std::string network{};  // the same; empty: data are local
  std::string layout{};   // "packed" where loose files would not do
  std::string cache{};    // the run's, or "ram" where that is what feeds the GPUs
};

/// How the rate grows with the GPUs of a node, all else as it is.
struct GpuScaling {
  int gpus = 1;
  double samples_per_s = 0;
  double efficiency = 1;  // against so many times the rate of one GPU
  Limiter limiter = Limiter::kStep;
};

struct LoadPoint {
  double samples_per_s = 0;  // that are asked for
  double latency_s_p50 = 0, latency_s_p99 = 0;
};

struct InferenceSize {
  double samples_per_s_most = 0;  // that can be served
  std::vector<LoadPoint> loads;   // ascending, up to 95% of that
  Limiter limiter = Limiter::kStep;
  double vcpus_per_gpu = 0;  // the fewest that keep the GPUs the limit
};

struct PreprocessingSize {
  double hours = 0;  // for all samples once, on this machine, without a GPU
  double samples_per_s = 0;
  Limiter limiter = Limiter::kCpuDecode;
  double vcpus_enough = 0;  // beyond which something else limits; 0: nothing else is known
};

/// Of the data: what memory of the node, and of its GPUs, holds. 1: all of it. Absent: not known.
struct Portions {
  std::optional<double> memory_coded{}, memory_decoded{}, gpu_coded{}, gpu_decoded{};
};

struct MachineOffer {
  CloudMachine machine;
  Prediction prediction;                      // of it alone, with all its GPUs
  bool fed = false;                           // its GPUs are idle less than 5% of their time
  std::optional<double> samples_per_price{};  // for one unit of the currency; absent: its price is not known
};

struct RightSize {
  TrainingSize training;
  std::vector<GpuScaling> scaling;        // 1 to 8 GPUs
  std::optional<int> gpus_scale_below{};  // the first count whose efficiency is under 95%
  std::vector<GpuScaling> node_scaling;   // 1 to 8 nodes of this kind: `gpus` counts nodes
  InferenceSize inference;
  PreprocessingSize preprocessing;
  Portions portions;
  std::vector<MachineOffer> offers;  // of the catalogue: fed ones first, then by price, then by rate
};

TrainingSize training_size(const Facts& facts, const Catalogue& catalogue);

/// With that as its part.
RightSize right_size(const Facts& facts, const Catalogue& catalogue);

}  // namespace stoker
