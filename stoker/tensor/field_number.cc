#include "stoker/tensor/field_number.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/tensor/rounding.h"

namespace stoker {
namespace {

constexpr DType kFieldTypes[] = {DType::kI8,  DType::kI16, DType::kI32, DType::kI64, DType::kU8, DType::kU16,
                                 DType::kU32, DType::kU64, DType::kF16, DType::kF32, DType::kF64};

}  // namespace

std::optional<DType> number_type_in_name(std::string_view field) {
  const std::size_t dot = field.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto* const found = std::find_if(std::begin(kFieldTypes), std::end(kFieldTypes),
                                         [&](DType type) { return to_string(type) == field.substr(dot + 1); });
  return found == std::end(kFieldTypes) ? std::nullopt : std::optional(*found);
}

LoadedNumber load_field_number(DType dtype, const std::uint8_t* number) {
  const auto load = [&]<typename Bits>(Bits) { return load_little_endian<Bits>(number); };
  switch (dtype) {
    case DType::kI8: return std::int64_t{load(std::int8_t{})};
    case DType::kI16: return std::int64_t{load(std::int16_t{})};
    case DType::kI32: return std::int64_t{load(std::int32_t{})};
    case DType::kI64: return load(std::int64_t{});
    case DType::kU8: return std::uint64_t{load(std::uint8_t{})};
    case DType::kU16: return std::uint64_t{load(std::uint16_t{})};
    case DType::kU32: return std::uint64_t{load(std::uint32_t{})};
    case DType::kU64: return load(std::uint64_t{});
    case DType::kF16: return f32_from_f16(load(std::uint16_t{}));
    case DType::kF32: return std::bit_cast<float>(load(std::uint32_t{}));
    case DType::kF64: return std::bit_cast<double>(load(std::uint64_t{}));
    case DType::kBF16:
    case DType::kBool: break;
  }
  fail(ErrorKind::kUsage, "fields have no numbers of type {}", to_string(dtype));
}

}  // namespace stoker
