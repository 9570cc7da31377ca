// The arguments of decode_mask: what the numbers of a mask's pixels mean.
#pragma once

#include <cstdint>

#include "stoker/ops/operator_call.h"
#include "stoker/tensor/dtype.h"
#include "stoker/tensor/mask_codes.h"

namespace stoker {

struct MaskOptions {
  enum class Classes : std::uint8_t {
    kStored,
    kFromOne,     // 1 is the first class, and 0 is none
    kCityscapes,  // the 19 classes of Cityscapes' evaluation, from the 34 of its label files
  };

  MaskCodes codes = MaskCodes::kIndex;
  bool of_objects = false;  // there is no picture: pixels have the categories of the objects in COCO's JSON
  Classes classes = Classes::kStored;
  std::int32_t fill = 255;
  DType dtype = DType::kU8;

  /// The class of a pixel that holds `code`; `fill` where it has none, as negative codes do.
  std::int64_t class_of(std::int64_t code) const;
  /// What the output's type can hold.
  bool holds(std::int64_t number) const { return dtype == DType::kI64 || (number >= 0 && number <= 255); }
};

/// Throws kUsage for a fill that the type cannot hold.
void apply_decode_mask(const OperatorCall& call, MaskOptions& options);

}  // namespace stoker
