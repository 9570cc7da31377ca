#include "stoker/runtime/report/limiter.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace stoker {
namespace {

constexpr double kFedIdleMost = 0.05, kModerateIdleMost = 0.2;

struct LimiterWords {
  std::string_view name, words;
};

constexpr std::array<LimiterWords, 8> kLimiterWords = {{{"cpu decode", "CPU decode"},
                                                        {"cpu transform", "CPU transform"},
                                                        {"storage bandwidth", "storage bandwidth"},
                                                        {"storage requests", "storage requests"},
                                                        {"network", "the network"},
                                                        {"copy", "the copy"},
                                                        {"memory", "memory bandwidth"},
                                                        {"step", "the step"}}};

}  // namespace

std::string_view name_of(Limiter limiter) { return kLimiterWords[static_cast<std::size_t>(limiter)].name; }
std::string_view words_of(Limiter limiter) { return kLimiterWords[static_cast<std::size_t>(limiter)].words; }

BoundClass bound_class(double gpu_idle) {
  if (gpu_idle < kFedIdleMost) return BoundClass::kFed;
  return gpu_idle <= kModerateIdleMost ? BoundClass::kModerately : BoundClass::kHighly;
}

std::string_view name_of(BoundClass bound) {
  constexpr std::array<std::string_view, 3> kNames = {"fed", "moderately input-bound", "highly input-bound"};
  return kNames[static_cast<std::size_t>(bound)];
}

std::string verdict_sentence(double gpu_idle, const Limit& bottleneck, const std::optional<Limit>& next) {
  const bool is_plural = bottleneck.limiter == Limiter::kStorageRequests;
  std::string sentence =
      bound_class(gpu_idle) == BoundClass::kFed ? "Fed" : fmt::format("GPU idle {:.0f}%", 100 * gpu_idle);
  sentence += fmt::format(": {} {} the limit", words_of(bottleneck.limiter), is_plural ? "are" : "is");
  if (next && bottleneck.samples_per_s > 0) {
    sentence += fmt::format("; next limit {} at {:.1f}x", words_of(next->limiter),
                            next->samples_per_s / bottleneck.samples_per_s);
  }
  return sentence;
}

}  // namespace stoker
