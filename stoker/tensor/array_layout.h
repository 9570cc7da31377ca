// How the numbers of an array lie in memory or in a file: of which type, in which order. Threads: a value; many may
// read it, one may change it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "stoker/tensor/dtype.h"
#include "stoker/tensor/shape.h"

namespace stoker {

struct ArrayLayout {
  /// A batch of them has one axis more.
  static constexpr std::size_t kAxesMax = Shape::kMaxRank - 1;
  using Strides = std::array<std::uint64_t, kAxesMax>;

  DType dtype = DType::kF32;
  bool is_big_endian = false;
  bool is_column_major = false;  // the first axis is the one whose steps are smallest
  Shape shape{};                 // all of its numbers take less than 2^63 bytes
  std::uint64_t offset = 0;      // of the first number in what holds the array

  std::uint64_t item_bytes() const { return size_of(dtype); }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(shape.elements()) * item_bytes(); }
  /// Bytes from one place of each axis to the next.
  Strides strides() const {
    Strides strides{};
    std::uint64_t step = item_bytes();
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      const std::size_t axis = is_column_major ? i : shape.rank() - 1 - i;
      strides[axis] = step;
      step *= static_cast<std::uint64_t>(shape[axis]);
    }
    return strides;
  }

  friend bool operator==(const ArrayLayout&, const ArrayLayout&) = default;
};

}  // namespace stoker
