#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "stoker/tensor/batch.h"
#include "stoker/tensor/dtype_testing.h"

namespace stoker {
namespace {

TEST(DenseArrangement, PadsNumbersWithTheirOwnInEveryTypeThatHasIt) {
  for (const DType dtype : kAllDTypes) {
    Batch batch({{"number", dtype, {}}, {"vector", dtype, {3}}}, 2, host_allocator());
    for (const std::size_t output : {0, 1}) {
      std::memset(batch.output(output).data, 0x5A, batch.output(output).bytes());
    }
    batch.pad(1);
    EXPECT_EQ(element_value(dtype, batch.slot_bytes(0, 1).data()), is_signed(dtype) || is_float(dtype) ? -100 : 0)
        << to_string(dtype);
    const Bytes vector = batch.slot_bytes(1, 1), other = batch.slot_bytes(0, 0);
    EXPECT_TRUE(std::all_of(vector.begin(), vector.end(), [](std::uint8_t byte) { return byte == 0; }));
    EXPECT_TRUE(std::all_of(other.begin(), other.end(), [](std::uint8_t byte) { return byte == 0x5A; }));
  }
}

}  // namespace
}  // namespace stoker
