// The obviously correct executor: whole images, step by step, plain loops. It shares the definitions (taps, sampling
// maps, color maps) with the fast one, and none of its code.
#pragma once

#include "stoker/codec/image_decoder.h"
#include "stoker/plan/sample_executor.h"

namespace stoker {

class ReferenceExecutor final : public SampleExecutor {
 public:
  explicit ReferenceExecutor(const Plan& plan, DecodeLimits limits = {})
      : SampleExecutor(plan), limits_(limits), functions_(plan) {}

  void run(const SampleInput& sample, const OutputPlaces& outputs) override;
  void run_batch(const WholeBatch& batch) override { functions_.run_batch(batch); }

 private:
  ImageSize size_of(const ViewPlan& view, const SampleInput& sample) const;
  SeenImage seen_image(const ViewPlan& view, const SampleInput& sample, std::vector<ObjectBox>& boxes) const;
  void write_companion(const ViewPlan& view, const SampleInput& sample, std::size_t output,
                       const OutputPlaces& place) const;

  DecodeLimits limits_;
  FunctionCalls functions_;
};

}  // namespace stoker
