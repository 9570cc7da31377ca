// Samples of formats that have numbers in place of names.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace stoker {

/// What their keys begin with: the name of the file, without folders and without one of the `endings`, which say what
/// it is, and a slash. A key ends at the first dot where it is split from the names of fields, so dots become
/// underscores.
std::string key_prefix_of_file(std::string_view path, std::initializer_list<std::string_view> endings);

}  // namespace stoker
