#include "stoker/tensor/field_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace stoker {
namespace {

TEST(FieldNumber, IsOfTheTypeThatTheNameEndsWith) {
  for (const char* const name : {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64"}) {
    EXPECT_EQ(number_type_in_name(std::string("a.b.") + name), parse_dtype(name));
    EXPECT_FALSE(number_type_in_name(name)) << "a field that is called so";
  }
  for (const char* const name : {"x.bf16", "x.bool", "x.i8s", "x.", "", "x.I8", "x.varint"}) {
    EXPECT_FALSE(number_type_in_name(name)) << name;
  }
}

template <typename Stored, typename Loaded>
void expect_loaded(DType dtype, Stored stored, Loaded number) {
  std::uint8_t bytes[sizeof(Stored) + 1];
  std::memcpy(bytes + 1, &stored, sizeof(Stored));
  const LoadedNumber loaded = load_field_number(dtype, bytes + 1);
  ASSERT_TRUE(std::holds_alternative<Loaded>(loaded)) << to_string(dtype);
  EXPECT_EQ(std::get<Loaded>(loaded), number) << to_string(dtype);
}

TEST(FieldNumber, IsLoadedFromAnyAddress) {
  expect_loaded<std::int8_t>(DType::kI8, -3, std::int64_t{-3});
  expect_loaded<std::int16_t>(DType::kI16, -300, std::int64_t{-300});
  expect_loaded<std::int32_t>(DType::kI32, -70'000, std::int64_t{-70'000});
  expect_loaded<std::int64_t>(DType::kI64, INT64_MIN, INT64_MIN);
  expect_loaded<std::uint8_t>(DType::kU8, 200, std::uint64_t{200});
  expect_loaded<std::uint16_t>(DType::kU16, 60'000, std::uint64_t{60'000});
  expect_loaded<std::uint32_t>(DType::kU32, UINT32_MAX, std::uint64_t{UINT32_MAX});
  expect_loaded<std::uint64_t>(DType::kU64, UINT64_MAX, UINT64_MAX);
  expect_loaded<std::uint16_t>(DType::kF16, 0xc100, -2.5F);
  expect_loaded<float>(DType::kF32, 0.1F, 0.1F);
  expect_loaded<double>(DType::kF64, 0.1, 0.1);
}

}  // namespace
}  // namespace stoker
