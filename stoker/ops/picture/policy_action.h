// What the policies draw: one operator at a time with its amount. Each result is rounded to 8 bits by itself.
#pragma once

#include <cstdint>

#include "stoker/ops/picture/picture_operator.h"
#include "stoker/ops/picture/warp.h"

namespace stoker {

/// With the unit of its amount.
enum class PolicyOp : std::uint8_t {
  kIdentity,
  kShearX,      // columns per row
  kShearY,      // rows per column
  kTranslateX,  // pixels to the right
  kTranslateY,  // pixels down
  kRotate,      // degrees, anticlockwise
  kBrightness,  // a factor, as of the next three
  kColor,
  kContrast,
  kSharpness,
  kPosterize,    // bits that stay: 0 to 8
  kSolarize,     // the least value that is inverted
  kSolarizeAdd,  // added to values below 128
  kAutocontrast,
  kEqualize,
  kInvert,
  kBlur,  // the Gaussian's sigma, in pixels
};

struct PolicyAction {
  PolicyOp op = PolicyOp::kIdentity;
  double amount = 0;
};

/// Adds the steps of an action: two to blur, one or none for anything else.
void add_action(const PolicyAction& action, ImageSize size, const WarpLook& look, PictureSteps& steps);

/// What so many actions need, of so many steps each at most.
PictureBounds bounds_of_actions(int actions, int steps = 1);

}  // namespace stoker
