// Numbers in the fields of samples: little-endian, one after another, of the type that the field's name ends with.
// Threads: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "stoker/tensor/dtype.h"

namespace stoker {

/// Of "score.f32", or as any other type of numbers but bf16 is called; nothing for other names.
std::optional<DType> number_type_in_name(std::string_view field);

using LoadedNumber = std::variant<std::int64_t, std::uint64_t, float, double>;

/// Of a type that names of fields have; at any address.
LoadedNumber load_field_number(DType dtype, const std::uint8_t* number);

}  // namespace stoker
