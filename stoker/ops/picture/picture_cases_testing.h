// The calls with which operators on pictures are tested: here and in the layers above, all executors must agree on
// each.
#pragma once

#include <string>
#include <vector>

#include "stoker/ops/operator_call.h"

namespace stoker {

struct PictureCase {
  OperatorCall call;
  /// The golden hash: of what the call made of many pictures. It changes only with kSemanticsVersion.
  std::string golden;
};

/// Of every operator on pictures one call at least.
const std::vector<PictureCase>& picture_cases();

}  // namespace stoker
