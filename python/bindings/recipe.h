// Recipes as Python passes them.
#pragma once

#include <nanobind/nanobind.h>

#include "stoker/plan/recipe.h"

namespace stoker::python {

/// A Recipe as it is; a text or path as Recipe::load() takes it.
Recipe recipe_argument(nanobind::handle recipe);

}  // namespace stoker::python
