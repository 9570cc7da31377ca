// The examples in the documentation of operators: the table's, as Python code.
#pragma once

#include <string>

#include "stoker/ops/operator_table.h"

namespace stoker::python {

/// ">>> recipe = stoker.recipe().decode().resize([224, 224]).flip(axis='vertical')".
std::string example_of_method(const OperatorSpec& spec);
/// ">>> call = stoker.op.flip(axis='vertical')", and what its name is.
std::string example_of_function(const OperatorSpec& spec);

}  // namespace stoker::python
