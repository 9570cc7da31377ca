#include "stoker/tensor/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/error_testing.h"

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
      const Bytes bytes = batch.slot_bytes(output, slot);
      EXPECT_EQ(bytes.size(), kOutputs[output].bytes_per_sample());
      EXPECT_EQ(bytes.data(), whole.data + static_cast<std::size_t>(slot) * bytes.size());
      begins.insert(bytes.data());
    }
  }
  EXPECT_EQ(begins.size(), 6u);
  EXPECT_GE(batch.output(1).data, batch.output(std::size_t{0}).data + batch.output(std::size_t{0}).bytes());
}

TEST(Batch, PadsImagesAndVectorsWithZerosAndNumbersWithTheirOwn) {
  Batch batch({{"image", DType::kU8, {2}, Layout::kNchw}, {"soft", DType::kF32, {3}}, {"share", DType::kF32, {}}}, 2,
              host_allocator());
  for (std::size_t output = 0; output < 3; ++output) {
    std::memset(batch.output(output).data, 0x5A, batch.output(output).bytes());
  }
  batch.pad(1);
  const auto floats_of = [&](std::size_t output) {
    const Bytes bytes = batch.slot_bytes(output, 1);
    std::vector<float> floats(bytes.size() / sizeof(float));
    std::memcpy(floats.data(), bytes.data(), bytes.size());
    return floats;
  };
  EXPECT_EQ(batch.slot_bytes(0, 1)[1], 0);
  EXPECT_EQ(floats_of(1), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(floats_of(2), std::vector<float>{-100});
  EXPECT_EQ(batch.slot_bytes(1, 0)[11], 0x5A) << "of the other slot";
}

TEST(Batch, PadsMasksWithTheirOwnNumber) {
  Batch batch({{.name = "mask", .dtype = DType::kU8, .shape = {2, 3}, .padding = 255},
               {.name = "wide", .dtype = DType::kI64, .shape = {2, 2}, .padding = -7}},
              2, host_allocator());
  batch.pad(1);
  for (const std::uint8_t pixel : batch.slot_bytes(0, 1)) EXPECT_EQ(pixel, 255);
  const auto* const wide = reinterpret_cast<const std::int64_t*>(batch.slot_bytes(1, 1).data());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(wide[i], -7);
}

TEST(Shape, CountsBytesUpToWhatMemoryCanHold) {
  EXPECT_EQ(Shape({3, 4}).bytes(8), 96U);
  EXPECT_EQ(Shape().bytes(8), 8U);
  constexpr std::int64_t kMany = std::int64_t{1} << 30;
  EXPECT_EQ(Shape({kMany, kMany, kMany}).bytes(4), SIZE_MAX);
  EXPECT_EQ(Shape({4, kMany, kMany}).bytes(8), SIZE_MAX) << "2^65 bytes";
  EXPECT_EQ(Shape({kMany, kMany, kMany, 0}).bytes(4), 0U);
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

/// The parts of a sealed batch, as a copy elsewhere.
BatchParts copied_parts(const Batch& batch) {
  auto memory = std::make_shared<std::vector<std::vector<std::uint64_t>>>();
  BatchParts parts{.outputs = {}, .owner = memory, .read_only = true};
  for (std::size_t i = 0; i < batch.outputs().size(); ++i) {
    std::vector<std::uint8_t> room;
    const Bytes bytes = batch.host_bytes(i, room);
    memory->emplace_back(bytes.size() / 8 + 1);
    auto* const copy = reinterpret_cast<std::uint8_t*>(memory->back().data());
    std::copy(bytes.begin(), bytes.end(), copy);
    parts.outputs.emplace_back(copy, bytes.size());
  }
  return parts;
}

TEST(Batch, IsTheSameInMemoryOfAnotherOwner) {
  const std::vector<OutputSpec> outputs = {{.name = "image", .dtype = DType::kU8, .shape = {2, 3}},
                                           {.name = "boxes", .shape = {5, 4}, .arrangement = &ragged_arrangement()},
                                           {.name = "first",
                                            .shape = {2, 4},
                                            .arrangement = &padded_arrangement(),
                                            .row_padding = RowPadding{.rows = 2, .fill = 1, .cuts = true, .room = 5}}};
  Batch batch(outputs, 3, host_allocator());
  for (int slot = 0; slot < 3; ++slot) {
    const std::int64_t rows = 2 * slot;
    for (std::size_t output = 0; output < outputs.size(); ++output) {
      const MutableBytes place = batch.place(output, slot, output == 0 ? outputs[0].shape : Shape{rows, 4});
      std::fill(place.begin(), place.end(), static_cast<std::uint8_t>(1 + slot + 10 * output));
    }
  }
  batch.seal();
  BatchParts parts = copied_parts(batch);
  const std::weak_ptr<const void> owner = parts.owner;
  {
    const Batch other(outputs, 3, parts);
    parts.owner.reset();
    EXPECT_TRUE(other.read_only());
    EXPECT_FALSE(batch.read_only());
    EXPECT_FALSE(owner.expired());
    for (std::size_t output = 0; output < outputs.size(); ++output) {
      for (int slot = 0; slot < 3; ++slot) {
        EXPECT_THAT(other.slot_bytes(output, slot), testing::ElementsAreArray(batch.slot_bytes(output, slot)));
      }
      ASSERT_EQ(other.tensors(output).size(), batch.tensors(output).size());
      EXPECT_EQ(other.output(output).shape, batch.output(output).shape);
    }
  }
  EXPECT_TRUE(owner.expired()) << "it lives as long as the batch";
}

TEST(Batch, PartsThatCannotBeItsOutputsAreRefused) {
  const std::vector<OutputSpec> outputs = {{.name = "boxes", .shape = {5, 4}, .arrangement = &ragged_arrangement()}};
  Batch batch(outputs, 2, host_allocator());
  batch.place(0, 0, {3, 4});
  batch.place(0, 1, {1, 4});
  batch.seal();
  const auto refused = [&](const BatchParts& parts) {
    try {
      const Batch made(outputs, 2, parts);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kData;
    }
    return false;
  };
  EXPECT_FALSE(refused(copied_parts(batch)));
  EXPECT_TRUE(refused({}));
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{63}, std::size_t{64}, 64 + 4 * 16 - std::size_t{1}}) {
    BatchParts cut = copied_parts(batch);
    cut.outputs[0] = cut.outputs[0].first(bytes);
    EXPECT_TRUE(refused(cut)) << bytes;
  }
  for (const auto& [number, offset] : {std::pair(0, 1), {1, 5}, {1, -1}, {1, 7}, {2, 3}, {2, 5}}) {
    BatchParts wrong = copied_parts(batch);
    reinterpret_cast<std::int64_t*>(wrong.outputs[0].data())[number] = offset;
    EXPECT_TRUE(refused(wrong)) << number << ": " << offset;
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

// Like a loader's, of whose slots there may be fewer.
class ResizedBatch : public Batch {
 public:
  using Batch::Batch;
  using Batch::set_size;
};

TEST(Batch, TakesValuesWhoseSizesDifferFromSlotToSlot) {
  constexpr int kSlots = 64, kThreads = 4;
  constexpr std::int64_t kRoom = 100;
  const Arrangement& ragged = ragged_arrangement();
  const std::vector<OutputSpec> outputs = {kOutputs[1], {"caption", DType::kU8, {kRoom}, {}, &ragged}, kOutputs[0]};
  ResizedBatch batch(outputs, kSlots, host_allocator());
  EXPECT_EQ(batch.bytes(), batch_bytes(outputs, kSlots));
  for (const int slots : {kSlots, kSlots - 7}) {
    SCOPED_TRACE(slots);
    batch.set_size(slots);
    const auto text_of = [&](int slot) {
      return std::string(static_cast<std::size_t>(slot * 37 % (kRoom + 1)), static_cast<char>('0' + slot));
    };
    const auto write = [&](int slot, const std::string& text) {
      const MutableBytes place = batch.place(1, slot, {std::ssize(text)});
      std::copy(text.begin(), text.end(), place.begin());
    };
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int slot = slots - 1 - thread; slot >= 0; slot -= kThreads) {
          if (slot % 3 == 0) write(slot, "of a sample that turned out to be bad");
          slot == 5 ? batch.pad(slot) : write(slot, text_of(slot));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_THROW(batch.place(1, 0, {kRoom + 1}), Error);
    batch.seal();

    const std::vector<TensorView> tensors = batch.tensors(1);
    ASSERT_EQ(tensors.size(), 2U);
    EXPECT_EQ(tensors[1].shape, (Shape{slots + 1}));
    const auto* const offsets = reinterpret_cast<const std::int64_t*>(tensors[1].data);
    std::vector<std::uint8_t> room;
    const Bytes host = batch.host_bytes(1, room);
    const std::vector<std::uint8_t> elsewhere(host.begin(), host.end());
    std::string all;
    for (int slot = 0; slot < slots; ++slot) {
      const std::string want = slot == 5 ? "" : text_of(slot);
      EXPECT_EQ(offsets[slot], std::ssize(all));
      all += want;
      const Bytes here = batch.slot_bytes(1, slot), there = batch.slot_bytes(1, slot, elsewhere.data());
      EXPECT_EQ(std::string(here.begin(), here.end()), want);
      EXPECT_EQ(std::string(there.begin(), there.end()), want);
    }
    EXPECT_EQ(tensors[0].shape, (Shape{std::ssize(all)}));
    EXPECT_EQ(std::string(tensors[0].data, tensors[0].data + all.size()), all);
  }
}

TEST(Batch, FillsOrCutsRowsWhoseNumberDiffersFromSlotToSlot) {
  constexpr int kSlots = 9;
  constexpr std::int64_t kRoom = 6;
  for (const auto& [rows, cuts] : {std::pair{4, true}, {6, false}, {8, true}, {8, false}}) {
    SCOPED_TRACE(rows);
    OutputSpec boxes{"boxes", DType::kI64, {rows, 2}, {}, &padded_arrangement()};
    boxes.row_padding = RowPadding{.rows = rows, .fill = -7, .cuts = cuts, .room = std::max<std::int64_t>(rows, kRoom)};
    const std::vector<OutputSpec> outputs = {kOutputs[1], boxes, kOutputs[0]};
    ResizedBatch batch(outputs, kSlots, host_allocator());
    EXPECT_EQ(batch.bytes(), batch_bytes(outputs, kSlots));
    const auto rows_of = [](int slot) { return slot == 5 ? 0 : slot % (kRoom + 1); };
    const auto write = [&](int slot, std::int64_t count, std::int64_t first) {
      const MutableBytes place = batch.place(1, slot, {count, 2});
      auto* const numbers = reinterpret_cast<std::int64_t*>(place.data());
      std::iota(numbers, numbers + 2 * count, first);
    };
    for (const int slots : {kSlots, kSlots - 2}) {
      batch.set_size(slots);
      for (int slot = slots - 1; slot >= 0; --slot) {
        if (slot % 3 == 0) write(slot, rows, 10'000);  // of a sample that turned out to be bad
        slot == 5 ? batch.pad(slot) : write(slot, rows_of(slot), 100 * slot);
      }
      if (!cuts) {
        EXPECT_EQ(error_of([&] { batch.place(1, 0, {rows + 1, 2}); }).kind(), ErrorKind::kBadSample);
      }
      batch.seal();
      const std::vector<TensorView> tensors = batch.tensors(1);
      ASSERT_EQ(tensors.size(), 2U);
      EXPECT_EQ(tensors[0].shape, (Shape{slots, rows, 2}));
      EXPECT_EQ(tensors[1].shape, (Shape{slots}));
      std::vector<std::uint8_t> room;
      const Bytes host = batch.host_bytes(1, room);
      for (int slot = 0; slot < slots; ++slot) {
        EXPECT_EQ(reinterpret_cast<const std::int64_t*>(tensors[1].data)[slot], rows_of(slot));
        const Bytes value = batch.slot_bytes(1, slot, host.data());
        ASSERT_EQ(value.size(), static_cast<std::size_t>(rows) * 2 * sizeof(std::int64_t));
        const auto* const numbers = reinterpret_cast<const std::int64_t*>(value.data());
        for (int i = 0; i < 2 * rows; ++i) EXPECT_EQ(numbers[i], i < 2 * rows_of(slot) ? 100 * slot + i : -7);
      }
    }
  }
}

}  // namespace
}  // namespace stoker
