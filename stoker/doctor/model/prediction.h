// What the model says of a configuration: the rate, what limits it, and how idle that leaves the GPUs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker {

/// Names as in the doctor's JSON.
enum class Limiter : unsigned char {
  kCpuDecode,         // "cpu decode": the cores, most of whose time goes into decoding
  kCpuTransform,      // "cpu transform": the cores, most of whose time goes elsewhere
  kStorageBandwidth,  // "storage bandwidth"
  kStorageRequests,   // "storage requests": operations a second, or their latency at the depth of reads
  kNetwork,           // "network"
  kCopy,              // "copy"
  kMemory,            // "memory": its bandwidth
  kStep,              // "step": the training itself
};
std::string_view name_of(Limiter limiter);

struct Limit {
  Limiter limiter;
  double samples_per_s;  // that it could carry if nothing else limited
};

struct Prediction {
  double samples_per_s = 0;                // of the node
  double samples_per_s_needed = 0;         // that its GPUs take
  double gpu_idle = 0;                     // share of their time, stragglers included
  double error = 0;                        // relative, of samples_per_s, as the figures it is made of vary
  std::vector<Limit> limits{};             // ascending: the first is the bottleneck; all that are known
  double first_epoch_samples_per_s = 0;    // while caches fill
  double miss_share = 1;                   // of later epochs' samples, that come from storage
  double wait_s_p50 = 0, wait_s_p95 = 0;   // of a step for its batch
  std::vector<std::string> assumptions{};  // sentences: what was not measured for it, and what was taken instead

  const Limit& bottleneck() const { return limits.front(); }
};

}  // namespace stoker
