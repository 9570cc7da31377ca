// What the outputs of a batch may be called.
#pragma once

#include <string_view>

namespace stoker {

/// A letter, then letters, digits and underscores.
bool is_identifier(std::string_view name);

/// Throws kUsage for a name that a batch has for something else than an output; `what` has it: "a view".
void check_not_reserved(std::string_view what, std::string_view name);

}  // namespace stoker
