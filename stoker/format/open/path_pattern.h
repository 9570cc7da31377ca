// Paths as people abbreviate them: "train-{000000..000146}.tar", "{train,extra}-*.tar".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/storage/stores.h"

namespace stoker {

/// The paths that `pattern` stands for. Braces are expanded first, in the order written; then each result that is no
/// existing path but has `*`, `?` or `[` becomes the sorted paths that match. What exists as it is written is taken
/// literally. Throws kNotFound for a path or match that is not there, kIo for a path that may not be looked at and for
/// a folder on the way that may not be listed, kUsage for a component `**`, kLimit for a range of over a million paths.
std::vector<Location> expand_pattern(const Location& pattern, const Stores& stores);

/// Braces alone: "{000..002}" keeps its zeros, "{a,b}" lists, and several multiply out, the last varying fastest. A
/// brace that holds neither a range nor a list stands for itself.
std::vector<std::string> expand_braces(std::string_view pattern);

}  // namespace stoker
