// The files of stoker/plan/recipes as the build found them: cmake/shipped_recipes.cmake writes the source of this.
#pragma once

#include <span>
#include <string_view>

namespace stoker {

struct ShippedRecipe {
  std::string_view name, toml;
};

/// In the order of their names.
std::span<const ShippedRecipe> shipped_recipes();

}  // namespace stoker
