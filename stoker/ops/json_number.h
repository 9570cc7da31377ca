// What operators of the family `number` take from a field: a number in a JSON text, or what tells its bytes apart.
#pragma once

#include <string>
#include <variant>

#include "stoker/ops/operator_call.h"
#include "stoker/tensor/dtype.h"

namespace stoker {

struct JsonNumber {
  std::string key;  // of the outermost object; or a JSON pointer, "/annotations/0/category"
  DType dtype = DType::kI64;
};

/// How many bytes the field has, and their XXH3-64: for data that are only to be read.
struct FieldDigest {
  static constexpr int kNumbers = 2;
};

using FieldNumber = std::variant<JsonNumber, FieldDigest>;

void apply_json_number(const OperatorCall& call, FieldNumber& into);
void apply_digest(const OperatorCall& call, FieldNumber& into);

}  // namespace stoker
