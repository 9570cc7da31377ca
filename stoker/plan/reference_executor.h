// The obviously correct executor: whole images, step by step, plain loops. It shares the definitions (taps, sampling
// maps, color maps) with the fast one, and none of its code.
#pragma once

#include "stoker/codec/image_decoder.h"
#include "stoker/plan/sample_executor.h"

namespace stoker {

class ReferenceExecutor final : public SampleExecutor {
 public:
  explicit ReferenceExecutor(const Plan& plan, DecodeLimits limits = {}) : plan_(plan), limits_(limits) {}

  std::vector<OutputSpec> shapes(const SampleInput& sample) override;
  void run(const SampleInput& sample, std::span<const MutableBytes> outputs) override;

 private:
  const Plan& plan_;
  DecodeLimits limits_;
};

}  // namespace stoker
