// Operators that make several views of one. They exist only while a recipe is written: it holds the views that they
// make.
#pragma once

#include <vector>

#include "stoker/ops/operator_call.h"

namespace stoker {

// One maker per operator, for the operator table: by view, the operators that follow those of the view in whose place
// they stand. The calls have been checked against the table; what is made has not.
std::vector<OperatorCalls> make_five_crop(const OperatorCall& call);
std::vector<OperatorCalls> make_ten_crop(const OperatorCall& call);

}  // namespace stoker
