// Makes names from a data set, which may hold any bytes, printable in one line.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

/// The text with control bytes as \n, \t or \x1b, so that it stays one line and does nothing to a terminal; UTF-8 stays
/// as it is.
std::string escaped(std::string_view text);

}  // namespace stoker
