#include "stoker/plan/toml_document.h"

#include <algorithm>
#include <cstddef>

#include "stoker/base/error.h"
#include "stoker/plan/toml_mistake.h"

namespace stoker {
namespace {

// toml++ calls itself for every part of a dotted key (a.a.a. ...): some 20,000 of them exhaust a stack of 8 MiB.
constexpr std::ptrdiff_t kDotsMax = 8000;

/// Of a line: no key goes beyond one.
std::ptrdiff_t most_dots(std::string_view text) {
  std::ptrdiff_t most = 0, dots = 0;
  for (const char c : text) {
    if (c == '.') most = std::max(most, ++dots);
    if (c == '\n') dots = 0;
  }
  return most;
}

}  // namespace

toml::table parse_toml(std::string_view text, std::string_view what) {
  if (const std::ptrdiff_t dots = most_dots(text); dots > kDotsMax) {
    fail(ErrorKind::kLimit, "{} with {} dots in a line; the limit is {}", what, dots, kDotsMax);
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
