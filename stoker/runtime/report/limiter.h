// What can limit a training, and the words for it: in a running job's report as in the doctor's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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
/// As sentences have it: "CPU decode", "the step".
std::string_view words_of(Limiter limiter);

struct Limit {
  Limiter limiter;
  double samples_per_s;  // that it could carry if nothing else limited
};

/// How far a GPU is from never waiting, by the share of its time that it is idle.
enum class BoundClass : std::uint8_t {
  kFed,         // "fed": less than 5%
  kModerately,  // "moderately input-bound": up to 20%
  kHighly,      // "highly input-bound"
};
BoundClass bound_class(double gpu_idle);
std::string_view name_of(BoundClass bound);

/// "GPU idle 38%: CPU decode is the limit; next limit storage bandwidth at 1.4x", "Fed: the step is the limit".
/// `bottleneck` is what limits now, at the rate that is reached; `next` what would limit without it.
std::string verdict_sentence(double gpu_idle, const Limit& bottleneck, const std::optional<Limit>& next);

}  // namespace stoker
