// One maker per operator on pictures, for the operator table; the calls have been checked against it.
#pragma once

#include <memory>

#include "stoker/ops/operator_call.h"
#include "stoker/ops/picture/picture_operator.h"

namespace stoker {

std::unique_ptr<PictureOperator> make_brightness(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_invert(const OperatorCall& call);

}  // namespace stoker
