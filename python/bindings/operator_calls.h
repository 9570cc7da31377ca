// Operators as Python writes them: with arguments in order or by name, as a method of Recipe, or as a function of the
// module `op`, which makes a call alone, for operators that hold others.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "stoker/ops/operator_table.h"

namespace stoker::python {

/// An argument as Python code would give it: whole numbers are integers.
nanobind::object to_python(const Value& value);

/// The checked call. Throws kUsage for arguments that the operator does not permit.
OperatorCall call_of(const OperatorSpec& spec, const nanobind::args& positional, const nanobind::kwargs& named);

/// "def resize(self, size: int | Sequence[int], filter: str = 'bilinear') -> Recipe".
std::string signature_of_method(const OperatorSpec& spec);
/// What help() shows.
std::string documentation_of_method(const OperatorSpec& spec);

}  // namespace stoker::python
