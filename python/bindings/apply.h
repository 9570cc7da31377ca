// Recipe.apply: one sample through a recipe, without a loader.
#pragma once

#include <nanobind/nanobind.h>

#include "stoker/plan/recipe.h"

namespace stoker::python {

/// A dict from output name to numpy array. Takes `data`, an image's bytes or a dict of bytes by field, and by name
/// seed, epoch, position, label and reference.
nanobind::dict apply_recipe(const Recipe& recipe, const nanobind::args& positional, const nanobind::kwargs& named);

}  // namespace stoker::python
