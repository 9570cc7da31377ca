// What `stoker --version` prints: which build this is, and what it uses on this machine.
#pragma once

#include <string>

namespace stoker {

/// "stoker 0.1.0", and a line each of the build and of the machine, without an end of line. Throws nothing.
std::string build_facts();

}  // namespace stoker
