// Texts without the space around them.
#pragma once

#include <cstddef>
#include <string_view>

namespace stoker {

inline std::string_view trimmed(std::string_view text, std::string_view spaces = " \t\r\n") {
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) + 1 - first);
}

}  // namespace stoker
