// Which box of a stored array an output shows, axis by axis: drawn before anything but the array's shape is known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/ops/array/array_program.h"
#include "stoker/ops/geometry.h"

namespace stoker {

struct ArrayAxis {
  std::int64_t size = 1;     // of the output
  std::int64_t before = 0;   // of it, padding before the stored numbers
  std::int64_t begin = 0;    // where these begin in the array,
  std::int64_t count = 1;    // and how many there are: the rest is padding
  std::uint64_t stride = 0;  // bytes from one to the next
  bool is_flipped = false;   // the whole output, padding and all

  /// Where place `at` of the output is stored; -1: it is padding.
  std::int64_t source_of(std::int64_t at) const {
    const std::int64_t upright = (is_flipped ? size - 1 - at : at) - before;
    return upright >= 0 && upright < count ? begin + upright : -1;
  }
};

struct ArrayBox {
  std::size_t rank = 0;
  std::array<ArrayAxis, ArrayLayout::kAxesMax> axes{};

  Shape shape() const;
  bool is_empty() const;  // nothing of it is stored
};

/// A place in an array, along its axes from the last one on.
using ArrayPoint = std::vector<std::int64_t>;

/// The largest number that a crop is drawn around.
inline constexpr std::int64_t kAroundMost = 1023;

/// Whether the sample's crop is drawn around a number of another array: what draws first which of the positive numbers
/// that it has, in order, and then which of the places that have this one, in the order of rows.
std::optional<Random> draw_around(const ArrayProgram& program, const SampleDraw& draw);

/// `around`: what the crop has in its centre as far as it can; null: nothing. Throws kBadSample for an array that is
/// not as the program says.
ArrayBox draw_array_box(const ArrayProgram& program, const ArrayLayout& stored, const SampleDraw& draw,
                        const ArrayPoint* around = nullptr);

/// That a crop of an array shows the same part as one of another field, `other`: throws kBadSample if the axes that are
/// cropped differ.
void check_array_sizes(const ArrayProgram& program, const ArrayLayout& stored, const std::string& other,
                       const ArrayLayout& layout_of_other);

/// "(3, 224, 224)".
std::string array_shape_text(const Shape& shape);

}  // namespace stoker
