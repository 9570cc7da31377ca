// The calls with which operators that erase are tested: here and in the layers above, all executors must agree on each.
#pragma once

#include <string>
#include <vector>

#include "stoker/ops/operator_call.h"

namespace stoker {

struct EraseCase {
  OperatorCall call;
  /// The golden hash: of what the call made of many tensors. It changes only with kSemanticsVersion.
  std::string golden;
};

/// Of every operator that erases one call at least.
const std::vector<EraseCase>& erase_cases();

}  // namespace stoker
