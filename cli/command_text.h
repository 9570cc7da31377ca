// A command as its user typed it, to be shown and typed again.
#pragma once

#include <string>
#include <vector>

namespace stoker {

/// Words that a shell would change stand in quotes. Passwords and signatures in URLs are left out.
std::string command_text(const std::vector<std::string>& words);

}  // namespace stoker
