#include "fuzz/fuzz_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace stoker {
namespace {

std::vector<FuzzTarget>& announced() {
  static std::vector<FuzzTarget> targets;
  return targets;
}

}  // namespace

AnnounceFuzzTarget::AnnounceFuzzTarget(const FuzzTarget& target) {
  std::vector<FuzzTarget>& targets = announced();
  const auto after = [](std::string_view name, const FuzzTarget& other) { return name < other.name; };
  targets.insert(std::upper_bound(targets.begin(), targets.end(), target.name, after), target);
}

std::span<const FuzzTarget> fuzz_targets() { return announced(); }

void require_that(bool holds, std::string_view what) {
  if (holds) return;
  fmt::print(stderr, "fuzz: this does not hold: {}\n", what);
  std::abort();
}

}  // namespace stoker
