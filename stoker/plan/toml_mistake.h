// Explains to people what is wrong with a text that is not TOML: parsers describe what they expected next, which is
// seldom what the author meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoker {

/// What a parser says of a text that it does not take.
struct TomlComplaint {
  std::uint32_t line = 1, column = 1;  // from 1
  std::string_view words;
};

/// One sentence with the line's number and the line: about the usual mistakes (text without quotes, `True`, `:` for
/// `=`, a bracket left open, ...) where there is one, else the parser's words.
std::string toml_mistake(std::string_view text, const TomlComplaint& complaint);

}  // namespace stoker
