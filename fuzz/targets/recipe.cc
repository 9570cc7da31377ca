// A recipe's TOML form.
#include "stoker/plan/recipe.h"
#include "fuzz/fuzz_target.h"

namespace stoker {
namespace {

void run(Bytes input) {
  Recipe recipe;
  if (!accepts({ErrorKind::kUsage, ErrorKind::kLimit}, [&] { recipe = Recipe::from_toml(as_text(input)); })) return;
  require_that(!recipe.views().empty(), "a recipe has views");
  require_that(Recipe::from_toml(recipe.to_toml()) == recipe, "a recipe that was written is read as it was");
}

const AnnounceFuzzTarget kTarget({.name = "recipe", .run = run});

}  // namespace
}  // namespace stoker
