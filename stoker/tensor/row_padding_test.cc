#include "stoker/tensor/row_padding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "stoker/tensor/batch.h"
#include "stoker/tensor/dtype_testing.h"

namespace stoker {
namespace {

constexpr std::uint8_t kLeftover = 0x5A;

/// Of each type its extremes among them, as far as doubles know them.
std::vector<double> numbers_of(DType dtype) {
  switch (dtype) {
    case DType::kU8: return {0, 1, 255};
    case DType::kI64: return {0, -1, 0x1p53, -0x1p53};
    case DType::kF16: return {0, 0.5, -100, 65504};
    case DType::kBF16: return {0, 0.5, -100, 0x1.FEp127};
    case DType::kF32: return {0, 0.5, -100, std::numeric_limits<float>::max()};
    case DType::kF64: return {0, 0.1, -1e300};
    case DType::kI8: return {0, -128, 127};
    case DType::kI16: return {0, -32768, 32767};
    case DType::kI32: return {0, -0x1p31, 0x1p31 - 1};
    case DType::kU16: return {0, 65535};
    case DType::kU32: return {0, 0x1p32 - 1};
    case DType::kU64: return {0, 0x1p53};
    case DType::kBool: return {0, 1};
  }
  return {};
}

std::vector<double> numbers_beyond(DType dtype) {
  const std::vector<double> never_whole = {0.5, NAN, INFINITY};
  std::vector<double> beyond;
  switch (dtype) {
    case DType::kU8: beyond = {-1, 256}; break;
    case DType::kI64: beyond = {0x1p53 + 2, -0x1p63, 0x1p63}; break;
    case DType::kF16: return {65505, -1e6};
    case DType::kBF16: return {0x1.FFp127};
    case DType::kF32: return {1e39, -1e300};
    case DType::kF64: return {};
    case DType::kI8: beyond = {-129, 128}; break;
    case DType::kI16: beyond = {-32769, 32768}; break;
    case DType::kI32: beyond = {3e9, -0x1p31 - 1, 0x1p31}; break;
    case DType::kU16: beyond = {-1.5, -1, 65536}; break;
    case DType::kU32: beyond = {-1, 0x1p32}; break;
    case DType::kU64: beyond = {-1, 0x1p53 + 2, 0x1p64}; break;
    case DType::kBool: beyond = {-1, 2}; break;
  }
  beyond.insert(beyond.end(), never_whole.begin(), never_whole.end());
  return beyond;
}

TEST(RowPadding, KnowsWhichNumbersEachTypeHas) {
  for (const DType dtype : kAllDTypes) {
    for (const double number : numbers_of(dtype)) {
      EXPECT_TRUE(is_number_of(dtype, number)) << to_string(dtype) << ' ' << number;
    }
    for (const double number : numbers_beyond(dtype)) {
      EXPECT_FALSE(is_number_of(dtype, number)) << to_string(dtype) << ' ' << number;
    }
    EXPECT_EQ(is_number_of(dtype, INFINITY), is_float(dtype));
    EXPECT_EQ(is_number_of(dtype, NAN), is_float(dtype));
  }
}

TEST(RowPadding, FillsElementsOfEveryType) {
  for (const DType dtype : kAllDTypes) {
    for (const double number : numbers_of(dtype)) {
      for (const std::size_t count : {0, 1, 2, 7}) {
        const std::size_t item = size_of(dtype);
        std::vector<std::uint8_t> memory((count + 1) * item, kLeftover);
        fill_elements(dtype, number, MutableBytes(memory).first(count * item));
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_EQ(element_value(dtype, &memory[i * item]), number) << to_string(dtype);
        }
        EXPECT_EQ(memory.back(), kLeftover) << to_string(dtype);
      }
    }
  }
}

TEST(RowPadding, FillsTheRowsThatASampleOfAnyTypeDoesNotHave) {
  for (const DType dtype : kAllDTypes) {
    const double fill = numbers_of(dtype).back();
    OutputSpec spec{"rows", dtype, {3, 2}, {}, &padded_arrangement()};
    spec.row_padding = RowPadding{.rows = 3, .fill = fill, .room = 3};
    Batch batch({spec}, 2, host_allocator());
    for (int slot = 0; slot < 2; ++slot) {  // of an earlier batch
      for (std::uint8_t& byte : batch.place(0, slot, {3, 2})) byte = kLeftover;
    }
    for (std::uint8_t& byte : batch.place(0, 0, {1, 2})) byte = 1;
    batch.pad(1);
    batch.seal();
    for (const int slot : {0, 1}) {
      const Bytes value = batch.slot_bytes(0, slot);
      for (std::size_t i = slot == 0 ? 2 : 0; i < 6; ++i) {
        EXPECT_EQ(element_value(dtype, &value[i * size_of(dtype)]), fill) << to_string(dtype) << " of slot " << slot;
      }
    }
  }
}

}  // namespace
}  // namespace stoker
