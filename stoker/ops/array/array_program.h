// What the operators on arrays come to: which box of a stored array an output shows, and what happens to its numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/ops/array/array_step.h"
#include "stoker/tensor/array_layout.h"

namespace stoker {

enum class CropPlace : std::uint8_t { kRandom, kCenter, kBegin };

/// Of the last axes of an array.
struct ArrayCrop {
  std::vector<std::int64_t> size;  // of those axes; kWhole: the axis is not cropped
  CropPlace place = CropPlace::kRandom;
  bool pads = true;  // where the array is smaller; else its sample is bad
  // With this probability a random crop has a number of this field's array, a positive one, in its centre.
  std::string around{};
  double around_p = 0;
  int around_field = -1;  // of Plan::fields()
  std::uint64_t stream = 0;
};

struct ArrayFlip {
  std::vector<std::size_t> axes{};  // counted from the last one, which is 0
  double p = 0;                     // of each
  std::uint64_t stream = 0;
};

struct ArrayProgram {
  static constexpr std::int64_t kAny = -1, kWhole = -1;  // extents

  std::string field{};                               // of the sample
  DType dtype = DType::kF32;                         // of the output
  std::optional<std::vector<std::int64_t>> shape{};  // as it is stored, where the recipe says so; kAny: of any extent
  int most = 0;                                      // the largest first extent, if that is any
  double fill = 0;                                   // the stored number that padding has
  std::optional<ArrayCrop> crop{};
  std::vector<ArrayFlip> flips{};
  std::vector<ArrayStep> steps{};
  // Of an array that goes along with another one: which field that reads (Plan::fields()), and its name.
  int like_field = -1;
  std::string like_name{};

  /// Axes of the output.
  std::size_t rank() const { return shape ? shape->size() : crop ? crop->size.size() : 0; }
  /// An output's shape: the first extent is the largest one if it varies. Throws kUsage, as what is wrong, if another
  /// extent depends on the sample.
  Shape output_shape() const;
  /// Whether samples differ in their first extent.
  bool is_ragged() const;
  /// Throws kUsage, as what is wrong, for what cannot be.
  void check() const;
};

}  // namespace stoker
