// The part of a recipe that is about functions of the user's.
#include <cassert>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/plan/output_names.h"
#include "stoker/plan/recipe.h"

namespace stoker {
namespace {

void check_identifier(std::string_view what, std::string_view name) {
  if (is_identifier(name)) return;
  fail(ErrorKind::kUsage, "{} cannot be named '{}': use a letter, then letters, digits and underscores", what, name);
}

}  // namespace

Recipe& Recipe::map(FunctionSpec function) {
  check_identifier("a function", function.name);
  check_function(function);
  for (const FunctionSpec& other : functions_) {
    if (other.name == function.name) fail(ErrorKind::kUsage, "there are two functions '{}'", function.name);
  }
  for (const GivenValue& given : function.gives) {
    check_identifier("an output", given.name);
    check_not_reserved("an output", given.name);
  }
  functions_.push_back(std::move(function));
  return *this;
}

const FunctionSpec* Recipe::function_taking(std::string_view view) const {
  const FunctionSpec* taker = nullptr;
  for (const FunctionSpec& function : functions_) {
    for (const TakenValue& taken : function.takes) {
      if (taken.view != view) continue;
      if (taker) {
        fail(
            ErrorKind::kUsage,
            "view '{}' is taken by the functions '{}' and '{}': give each a view of its own of the same field, or call "
            "one after the other in one function",
            view, taker->name, function.name);
      }
      taker = &function;
    }
  }
  return taker;
}

Recipe& Recipe::set_function_payloads(std::vector<std::string> payloads) {
  assert(payloads.size() == functions_.size());
  for (std::size_t i = 0; i < functions_.size(); ++i) functions_[i].payload = std::move(payloads[i]);
  return *this;
}

std::uint64_t Recipe::hash() const {
  const FunctionSpec usual;
  Recipe same = *this;
  for (FunctionSpec& function : same.functions_) {
    function.timeout_s = usual.timeout_s;
    function.memory_max = usual.memory_max;
    function.is_isolated = usual.is_isolated;
  }
  return hash64(same.to_toml());
}

Recipe& Recipe::set_function_home(FunctionHome home) {
  for (FunctionSpec& function : functions_) function.home = home;
  return *this;
}

}  // namespace stoker
