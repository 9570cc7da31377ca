#include "stoker/tensor/npy_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stoker/base/error.h"
#include "stoker/tensor/npy_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

ArrayLayout layout_of(const NpyOfTest& array, std::size_t bytes) {
  const std::vector<std::uint8_t> file = npy_file(array, uneven_bytes(bytes, 1));
  return read_npy_layout(file, file.size());
}

std::string why_not(Bytes beginning, std::uint64_t bytes) {
  try {
    read_npy_layout(beginning, bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    return error.message();
  }
  return "it was taken";
}
std::string why_not(const NpyOfTest& array, std::size_t bytes) {
  const std::vector<std::uint8_t> file = npy_file(array, uneven_bytes(bytes, 1));
  return why_not(file, file.size());
}

TEST(NpyHeader, SaysHowNumbersLie) {
  const ArrayLayout rows = layout_of({"<f4", "(2, 3, 5)"}, 120);
  EXPECT_EQ(rows.dtype, DType::kF32);
  EXPECT_FALSE(rows.is_big_endian);
  EXPECT_EQ(rows.shape, (Shape{2, 3, 5}));
  EXPECT_EQ(rows.strides(), (ArrayLayout::Strides{60, 20, 4}));
  EXPECT_EQ(rows.bytes(), 120U);
  const ArrayLayout columns = layout_of({">i2", "(2, 3, 5)", true}, 60);
  EXPECT_EQ(columns.dtype, DType::kI16);
  EXPECT_TRUE(columns.is_big_endian);
  EXPECT_EQ(columns.strides(), (ArrayLayout::Strides{2, 4, 12}));
  EXPECT_EQ(layout_of({"|b1", "(7,)"}, 7).dtype, DType::kBool);
  EXPECT_EQ(layout_of({"<u8", "()"}, 8).shape, Shape());
  EXPECT_EQ(layout_of({"<f8", "(0, 4)"}, 0).shape, (Shape{0, 4}));
}

TEST(NpyHeader, IsEnoughWithoutTheNumbers) {
  const std::vector<std::uint8_t> file = npy_file({"<f4", "(1000, 1000)"}, uneven_bytes(4'000'000, 1));
  EXPECT_EQ(read_npy_layout(Bytes(file).first(kNpyHeaderBytesMax), file.size()), read_npy_layout(file, file.size()));
}

TEST(NpyHeader, RefusesWhatIsNoArrayOfNumbers) {
  EXPECT_THAT(why_not({"<c8", "(2,)"}, 16), HasSubstr("of type '<c8'"));
  EXPECT_THAT(why_not({"|O", "(2,)"}, 16), HasSubstr("Python objects"));
  EXPECT_THAT(why_not({"<U5", "(2,)"}, 40), HasSubstr("of type '<U5'"));
  EXPECT_THAT(why_not({"<f4", "(1, 1, 1, 1, 1, 1)"}, 4), HasSubstr("6 axes, and 5 are possible"));
  EXPECT_THAT(why_not(as_bytes("not an array at all"), 19), HasSubstr("does not begin as"));
}

TEST(NpyHeader, RefusesLies) {
  EXPECT_THAT(why_not({"<f4", "(2, 3)"}, 23), HasSubstr("other than the 23 bytes"));
  EXPECT_THAT(why_not({"<f4", "(2, 3)"}, 25), HasSubstr("other than the 25 bytes"));
  EXPECT_THAT(why_not({"<f4", "(4611686018427387904, 4)"}, 0), HasSubstr("other than"));
  EXPECT_THAT(why_not({"<f4", "(9223372036854775807, 9223372036854775807, 0)"}, 0), HasSubstr("other than"));
  EXPECT_THAT(why_not({"<f4", "(-2, 3)"}, 24), HasSubstr("shape is unusual"));
  EXPECT_THAT(why_not({"<f4", "(99999999999999999999,)"}, 24), HasSubstr("shape is unusual"));
}

TEST(NpyHeader, SaysTheSameOfABeginningAndOfTheWhole) {
  std::vector<std::uint8_t> file = npy_file({"<f4", "(2, 3)"}, uneven_bytes(24, 1));
  file[8] = 0xFF, file[9] = 0xFF;  // the header's length
  file.resize(100'000);
  EXPECT_THAT(why_not(file, file.size()), HasSubstr("its header has 65545 bytes"));
  EXPECT_EQ(why_not(Bytes(file).first(kNpyHeaderBytesMax), file.size()), why_not(file, file.size()));
}

TEST(NpyHeader, IsNeverReadBeyondItsEnd) {
  const std::vector<std::uint8_t> file = npy_file({"<f4", "(2, 3)"}, uneven_bytes(24, 1));
  for (std::size_t length = 0; length < file.size(); ++length) {
    const std::vector<std::uint8_t> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_NE(why_not(cut, cut.size()), "it was taken") << length;
  }
}

}  // namespace
}  // namespace stoker
