// The recipes that ship with Stoker, in the language that users write theirs in.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "stoker/base/error.h"
#include "stoker/base/spelling.h"
#include "stoker/plan/recipe.h"

namespace stoker {
namespace {

/// An image, and its label.
struct NamedRecipe {
  std::string_view name, tail, operators;
};

constexpr NamedRecipe kRecipes[] = {
    {"imagenet-train", "drop", R"(
  { op = "decode", mode = "planar" },
  { op = "random_resized_crop", size = 224 },
  { op = "random_flip" },
  { op = "normalize", preset = "imagenet" },
)"},
    {"imagenet-val", "pad", R"(
  { op = "decode", mode = "faithful" },
  { op = "resize", size = 256 },
  { op = "center_crop", size = 224 },
  { op = "normalize", preset = "imagenet" },
)"},
    {"cifar-train", "drop", R"(
  { op = "decode", mode = "faithful" },
  { op = "random_crop", size = 32, padding = 4 },
  { op = "random_flip" },
  { op = "normalize", preset = "cifar10" },
)"},
    // Caffe's AlexNet: blue first, the mean colour of ImageNet taken off, no scaling.
    {"alexnet-caffe", "drop", R"(
  { op = "decode", mode = "faithful" },
  { op = "resize", size = [256, 256] },
  { op = "random_crop", size = 227 },
  { op = "random_flip" },
  { op = "channel_order", order = "bgr" },
  { op = "normalize", mean = [104, 117, 123], std = 1, scale = 1 },
)"},
};

std::string toml_of(const NamedRecipe& recipe) {
  return fmt::format("tail = '{}'\n[[view]]\nname = 'image'\noperators = [{}]\n[[view]]\nname = 'label'\n", recipe.tail,
                     recipe.operators);
}

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
  for (const NamedRecipe& recipe : kRecipes) names.emplace_back(recipe.name);
  return names;
}

Recipe Recipe::named(std::string_view name) {
  for (const NamedRecipe& recipe : kRecipes) {
    if (recipe.name == name) return from_toml(toml_of(recipe));
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
