#include "stoker/plan/toml_document.h"

#include <algorithm>
#include <cstddef>

#include "stoker/base/error.h"
#include "stoker/plan/toml_mistake.h"

namespace stoker {
namespace {

// toml++ calls itself for every part of a dotted key (a.a.a. ...): some 20,000 of them exhaust a stack of 8 MiB.
constexpr std::ptrdiff_t kDotsMax = 8000;

}  // namespace

toml::table parse_toml(std::string_view text, std::string_view what) {
  if (const auto dots = std::count(text.begin(), text.end(), '.'); dots > kDotsMax) {
    fail(ErrorKind::kLimit, "{} with {} dots; the limit is {}", what, dots, kDotsMax);
  }
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    fail(ErrorKind::kUsage, "{}",
         toml_mistake(text, {.line = at.line, .column = at.column, .words = error.description()}));
  }
}

}  // namespace stoker
