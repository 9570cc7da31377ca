// The operators that say how finished pixels are stored.
#pragma once

#include <optional>

#include "stoker/ops/operator_call.h"
#include "stoker/tensor/dtype.h"
#include "stoker/tensor/layout.h"

namespace stoker {

/// What a view says about its tensor; what it leaves open the plan decides.
struct FormatChoice {
  std::optional<DType> dtype;
  std::optional<Layout> layout;
};

void apply_cast(const OperatorCall& call, FormatChoice& choice);
void apply_layout(const OperatorCall& call, FormatChoice& choice);

}  // namespace stoker
