// The place of a view's number in a JSON text.
#pragma once

#include <string>

#include "stoker/ops/operator_call.h"
#include "stoker/tensor/dtype.h"

namespace stoker {

struct JsonNumber {
  std::string key;  // of the outermost object; or a JSON pointer, "/annotations/0/category"
  DType dtype = DType::kI64;
};

void apply_json_number(const OperatorCall& call, JsonNumber& number);

}  // namespace stoker
