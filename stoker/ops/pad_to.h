// The arguments of pad_to.
#pragma once

#include "stoker/ops/operator_call.h"
#include "stoker/tensor/row_padding.h"

namespace stoker {

/// All but the room, which the rows before it say.
void apply_pad_to(const OperatorCall& call, RowPadding& padding);

}  // namespace stoker
