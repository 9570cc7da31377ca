#include "stoker/tensor/row_padding.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/tensor/rounding.h"

namespace stoker {
namespace {

// A double above it may have been another whole number before it was rounded.
constexpr double kWholeMax = 0x1p53;
constexpr double kHalfMax = 65504, kBfloatMax = 0x1.FEp127;

template <typename Whole>
bool has_whole(double number) {
  constexpr auto kLeast = static_cast<double>(std::numeric_limits<Whole>::min());
  constexpr auto kMost = static_cast<double>(std::numeric_limits<Whole>::max());
  return number == std::floor(number) && std::abs(number) <= kWholeMax && number >= kLeast && number <= kMost;
}

// Every type of floats has infinities and NaN.
bool rounds_within(double most, double number) { return !std::isfinite(number) || std::abs(number) <= most; }

template <typename Element>
void store_as(double number, std::uint8_t* out) {
  const auto element = static_cast<Element>(number);
  std::memcpy(out, &element, sizeof(element));
}

void store_number(DType dtype, double number, std::uint8_t* out) {
  switch (dtype) {
    case DType::kU8: return store_as<std::uint8_t>(number, out);
    case DType::kI64: return store_as<std::int64_t>(number, out);
    case DType::kF16:
    case DType::kBF16: return store_rounded(static_cast<float>(number), dtype, out, 0);
    case DType::kF32: return store_as<float>(number, out);
    case DType::kF64: return store_as<double>(number, out);
    case DType::kI8: return store_as<std::int8_t>(number, out);
    case DType::kI16: return store_as<std::int16_t>(number, out);
    case DType::kI32: return store_as<std::int32_t>(number, out);
    case DType::kU16: return store_as<std::uint16_t>(number, out);
    case DType::kU32: return store_as<std::uint32_t>(number, out);
    case DType::kU64: return store_as<std::uint64_t>(number, out);
    case DType::kBool: return store_as<bool>(number, out);
  }
}

}  // namespace

void check_rows(const RowPadding& padding, std::int64_t rows) {
  if (rows <= padding.rows || padding.cuts) return;
  fail(ErrorKind::kBadSample, "it has {}, and pad_to has count={}: use a larger one, or longer='cut'",
       counted(rows, "row"), padding.rows);
}

bool is_number_of(DType dtype, double number) {
  switch (dtype) {
    case DType::kU8: return has_whole<std::uint8_t>(number);
    case DType::kI64: return has_whole<std::int64_t>(number);
    case DType::kF16: return rounds_within(kHalfMax, number);
    case DType::kBF16: return rounds_within(kBfloatMax, number);
    case DType::kF32: return rounds_within(std::numeric_limits<float>::max(), number);
    case DType::kF64: return true;
    case DType::kI8: return has_whole<std::int8_t>(number);
    case DType::kI16: return has_whole<std::int16_t>(number);
    case DType::kI32: return has_whole<std::int32_t>(number);
    case DType::kU16: return has_whole<std::uint16_t>(number);
    case DType::kU32: return has_whole<std::uint32_t>(number);
    case DType::kU64: return has_whole<std::uint64_t>(number);
    case DType::kBool: return has_whole<bool>(number);
  }
  return false;
}

void fill_elements(DType dtype, double number, MutableBytes out) {
  assert(is_number_of(dtype, number) && out.size() % size_of(dtype) == 0);
  if (out.empty()) return;
  store_number(dtype, number, out.data());
  for (std::size_t done = size_of(dtype), more = 0; done < out.size(); done += more) {
    more = std::min(done, out.size() - done);
    std::memcpy(out.data() + done, out.data(), more);
  }
}

}  // namespace stoker
