// Guesses the kind of a file that no decoder takes from its first bytes.
#pragma once

#include <string>

#include "stoker/base/bytes.h"

namespace stoker {

/// "it is empty (0 bytes)", "it looks like a GIF image", "it looks like text", "its first bytes are 00 11 22 33".
std::string describe_first_bytes(Bytes encoded);

}  // namespace stoker
