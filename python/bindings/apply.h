// Recipe.apply: one sample through a recipe, without a loader.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "stoker/plan/recipe.h"

namespace stoker::python {

/// A dict from output name to numpy array. `data` is bytes or a dict of bytes by field.
nanobind::dict apply_recipe(const Recipe& recipe, nanobind::handle data, nanobind::handle seed, std::int64_t epoch,
                            std::int64_t position, std::int64_t label, bool reference);

}  // namespace stoker::python
