// The recipes that ship with Stoker: the files of stoker/plan/recipes, in the language that users write theirs in.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "stoker/base/error.h"
#include "stoker/base/spelling.h"
#include "stoker/plan/recipe.h"
#include "stoker/plan/shipped_recipes.h"

namespace stoker {
namespace {

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char block[4096];
  while (file.read(block, sizeof(block)) || file.gcount() > 0)
    text.append(block, static_cast<std::size_t>(file.gcount()));
  if (file.eof()) return text;
  const int cause = errno;
  fail(cause == ENOENT || cause == ENOTDIR ? ErrorKind::kNotFound : ErrorKind::kIo, "cannot read the recipe {}: {}",
       path, std::strerror(cause));
}

}  // namespace

std::vector<std::string> Recipe::names() {
  std::vector<std::string> names;
  for (const ShippedRecipe& recipe : shipped_recipes()) names.emplace_back(recipe.name);
  return names;
}

Recipe Recipe::named(std::string_view name) {
  for (const ShippedRecipe& recipe : shipped_recipes()) {
    if (recipe.name == name) return from_toml(recipe.toml);
  }
  fail(ErrorKind::kUsage, "there is no recipe '{}'{}; Stoker ships {}; a recipe file's name must end in .toml", name,
       did_you_mean(name, names()), fmt::join(names(), ", "));
}

Recipe Recipe::load(const std::string& name_or_path) {
  if (!name_or_path.ends_with(".toml")) return named(name_or_path);
  const std::string text = text_of_file(name_or_path);
  try {
    return from_toml(text);
  } catch (const Error& error) {
    throw error.with_context(name_or_path);
  }
}

}  // namespace stoker
