#include "stoker/tensor/batch.h"

#include <gtest/gtest.h>

#include <set>

#include "stoker/base/error.h"

namespace stoker {
namespace {

const std::vector<OutputSpec> kOutputs = {{"image", DType::kF32, {3, 5, 7}}, {"label", DType::kI64, {}}};

TEST(Batch, GivesEverySlotItsOwnBytes) {
  const Batch batch(kOutputs, 3, host_allocator());
  std::set<const std::uint8_t*> begins;
  for (std::size_t output = 0; output < 2; ++output) {
    const TensorView whole = batch.output(output);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(whole.data) % 64, 0u);
    for (int slot = 0; slot < 3; ++slot) {
      const MutableBytes bytes = batch.slot_bytes(output, slot);
      EXPECT_EQ(bytes.size(), kOutputs[output].bytes_per_sample());
      EXPECT_EQ(bytes.data(), whole.data + static_cast<std::size_t>(slot) * bytes.size());
      begins.insert(bytes.data());
    }
  }
  EXPECT_EQ(begins.size(), 6u);
  EXPECT_GE(batch.output(1).data, batch.output(std::size_t{0}).data + batch.output(std::size_t{0}).bytes());
}

TEST(Batch, NamesItsOutputs) {
  const Batch batch(kOutputs, 3, host_allocator());
  EXPECT_EQ(batch.output("image").shape, (Shape{3, 3, 5, 7}));
  EXPECT_EQ(batch.output("label").shape, (Shape{3}));
  EXPECT_EQ(batch.output("label").bytes(), 24u);
  try {
    batch.output("mask");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the batch has no output 'mask'; it has image, label");
  }
}

TEST(Batch, CountsValidSlots) {
  Batch batch(kOutputs, 4, host_allocator());
  EXPECT_EQ(batch.valid_count(), 0);
  batch.status = {SlotStatus::kGood, SlotStatus::kPadding, SlotStatus::kBad, SlotStatus::kGood};
  EXPECT_EQ(batch.valid_count(), 2);
  EXPECT_TRUE(batch.valid(3));
  EXPECT_FALSE(batch.valid(1));
}

}  // namespace
}  // namespace stoker
