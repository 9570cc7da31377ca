// Rows of a batch's slots in its memory: a whole number for each slot, and after them the values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/tensor/batch.h"

namespace stoker {

/// The shape of so many rows.
inline Shape rows_shape(const OutputSpec& spec, std::int64_t rows) {
  Shape shape{rows};
  for (std::size_t axis = 1; axis < spec.shape.rank(); ++axis) shape.append(spec.shape[axis]);
  return shape;
}

/// SIZE_MAX if no memory can be that large.
inline std::size_t row_bytes(const OutputSpec& spec) { return rows_shape(spec, 1).bytes(size_of(spec.dtype)); }

/// Where the values begin after so many numbers.
constexpr std::size_t values_begin(int numbers) {
  constexpr std::size_t kRowsAlignment = 64;
  return (static_cast<std::size_t>(numbers) * sizeof(std::int64_t) + kRowsAlignment - 1) / kRowsAlignment *
         kRowsAlignment;
}

/// SIZE_MAX if no memory can be that large.
inline std::size_t rows_bytes_max(const OutputSpec& spec, std::int64_t room, int slots, int numbers) {
  std::size_t bytes = row_bytes(spec);
  if (__builtin_mul_overflow(bytes, room, &bytes) || __builtin_mul_overflow(bytes, slots, &bytes) ||
      __builtin_add_overflow(bytes, values_begin(numbers), &bytes)) {
    return SIZE_MAX;
  }
  return bytes;
}

}  // namespace stoker
