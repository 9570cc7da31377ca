#include "stoker/format/sample_row.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace stoker {
namespace {

TEST(SampleRow, CountsTheBytesOfItsFieldsWithoutWrapping) {
  const auto bytes_of = [](std::initializer_list<std::uint64_t> lengths) {
    SampleRow row;
    for (const std::uint64_t length : lengths) row.fields.push_back({.name = "bin", .part = {}, .length = length});
    return row.bytes();
  };
  constexpr std::uint64_t kQuarter = std::uint64_t{1} << 62;
  EXPECT_EQ(bytes_of({}), 0u);
  EXPECT_EQ(bytes_of({3, 0, 4}), 7u);
  EXPECT_EQ(bytes_of({kQuarter, kQuarter - 1}), SampleRow::kBytesMax);
  EXPECT_EQ(bytes_of({kQuarter, kQuarter, kQuarter, kQuarter}), SampleRow::kBytesMax);
  EXPECT_EQ(bytes_of({~std::uint64_t{0}, 2}), SampleRow::kBytesMax);
}

}  // namespace
}  // namespace stoker
