#include "stoker/runtime/engine/batch_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace stoker {
namespace {

TEST(BatchSteps, SealBatchesWithRaggedOutputs) {
  MetricCounters metrics;
  const Arrangement& ragged = ragged_arrangement();
  const OutputSpec label{"label", DType::kI64, {}}, caption{"caption", DType::kU8, {10}, {}, &ragged};
  EXPECT_TRUE(batch_steps({label}, nullptr, metrics).empty());
  const auto steps = batch_steps({label, caption}, nullptr, metrics);
  ASSERT_EQ(steps.size(), 1U);
  LoaderBatch batch({label, caption}, 2, host_allocator(), {});
  batch.start(kTransferIndexMax, 2);
  for (const int slot : {1, 0}) {
    const std::string text(static_cast<std::size_t>(3 + slot), static_cast<char>('a' + slot));
    std::copy(text.begin(), text.end(), batch.place(1, slot, {std::ssize(text)}).begin());
  }
  steps[0]->run(batch);
  const TensorView values = batch.output("caption");
  EXPECT_EQ(std::string(values.data, values.data + values.bytes()), "aaabbbb");
}

}  // namespace
}  // namespace stoker
