// Functions of the user's: what Recipe.map() takes, and how they are called in this process.
#pragma once

#include <nanobind/nanobind.h>

#include "stoker/plan/recipe.h"

namespace stoker::python {

/// Recipe.map().
Recipe with_function(const Recipe& recipe, const nanobind::args& positional, const nanobind::kwargs& named);
/// Its signature, as the stub file has it.
extern const char* const kMapSignature;

/// Processes that start from now on are of this interpreter, and find modules where it does.
void be_home_of_functions();
/// Functions may be called in threads of this process, too.
void bind_functions(nanobind::module_& module);

}  // namespace stoker::python
