#include "stoker/ops/mask_options.h"

#include <array>

#include "stoker/base/error.h"

namespace stoker {
namespace {

constexpr std::int16_t kNoClass = -1;

// By the label id of Cityscapes, its training id.
constexpr std::array<std::int16_t, 34> kCityscapesClasses = {
    kNoClass, kNoClass, kNoClass, kNoClass, kNoClass, kNoClass, kNoClass, 0,  1,  kNoClass, kNoClass, 2,
    3,        4,        kNoClass, kNoClass, kNoClass, 5,        kNoClass, 6,  7,  8,        9,        10,
    11,       12,       13,       14,       15,       kNoClass, kNoClass, 16, 17, 18};

}  // namespace

std::int64_t MaskOptions::class_of(std::int64_t code) const {
  if (code < 0) return fill;
  switch (classes) {
    case Classes::kStored: break;
    case Classes::kFromOne: return code == 0 ? fill : code - 1;
    case Classes::kCityscapes:
      if (code >= std::ssize(kCityscapesClasses)) return fill;
      code = kCityscapesClasses[static_cast<std::size_t>(code)];
      return code == kNoClass ? fill : code;
  }
  return code;
}

void apply_decode_mask(const OperatorCall& call, MaskOptions& options) {
  options.of_objects = call.text("codes") == "objects";
  options.codes = call.text("codes") == "rgb" ? MaskCodes::kRgb : MaskCodes::kIndex;
  const std::string& classes = call.text("classes");
  options.classes = classes == "from_one"     ? MaskOptions::Classes::kFromOne
                    : classes == "cityscapes" ? MaskOptions::Classes::kCityscapes
                                              : MaskOptions::Classes::kStored;
  options.fill = static_cast<std::int32_t>(call.integer("fill"));
  options.dtype = parse_dtype(call.text("dtype"));
  if (!options.holds(options.fill)) {
    fail(ErrorKind::kUsage, "a mask of bytes cannot be filled with {}: use a fill of 0 to 255, or dtype='i64'",
         options.fill);
  }
}

}  // namespace stoker
