// A text as TOML: the one way in for what users write in it.
#pragma once

#include <toml++/toml.h>

#include <string_view>

namespace stoker {

/// Throws kUsage with toml_mistake() for what is not TOML, and kLimit, naming `what` it is ("a recipe"), for a text
/// whose dots would take the parser too long.
toml::table parse_toml(std::string_view text, std::string_view what);

}  // namespace stoker
