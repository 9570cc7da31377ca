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

TEST(Batch, RefusesSizesBeyondAnyMemory) {
  const auto refusal = [](const std::vector<OutputSpec>& outputs, int slots) {
    try {
      return std::to_string(batch_bytes(outputs, slots));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kLimit);
      return error.message();
    }
  };
  const std::int64_t k2To31 = std::int64_t{1} << 31;
  const OutputSpec small{"small", DType::kU8, {100}};
  EXPECT_EQ(refusal({small, {"label", DType::kI64, {}}}, 3), "384");
  const std::string want = "output 'wide' of 8 samples is larger than any memory; make it or the batch smaller";
  EXPECT_EQ(refusal({small, {"wide", DType::kF32, {k2To31, k2To31}}}, 8), want);  // would wrap to 0
  EXPECT_EQ(refusal({{"wide", DType::kU8, {k2To31, k2To31, k2To31}}}, 8), want);
  EXPECT_EQ(refusal({{"wide", DType::kU8, {k2To31, 1 << 27}}}, 8), want);
  const OutputSpec half{"wide", DType::kU8, {k2To31, 1 << 25}};
  EXPECT_EQ(refusal({half}, 8), std::to_string(std::int64_t{1} << 59));
  EXPECT_EQ(refusal({half, half, half}, 8), want) << "together";
  EXPECT_THROW(Batch({half, half, half}, 8, host_allocator()), Error);
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
