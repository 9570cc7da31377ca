// Numbers in texts, read whole: what follows a number makes it none.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace stoker {

/// Nothing for a text that is not a number, or one that the type does not hold. `how`: as std::from_chars takes it, a
/// base or a format.
template <typename Number, typename... How>
std::optional<Number> parse_number(std::string_view text, How... how) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, how...);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace stoker
