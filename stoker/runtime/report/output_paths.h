// The files that one run writes. Were two of them the same, one would destroy the other.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace stoker {

struct OutputPath {
  std::string_view option;  // by which it is given, for messages
  std::string path;         // empty: it is not
};

/// Throws kUsage, naming the options, for a URL, and where two are the same file. Devices and pipes take what several
/// write.
void check_outputs_differ(std::initializer_list<OutputPath> outputs);

}  // namespace stoker
