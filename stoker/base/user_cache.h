// The folder for files that Stoker can make again.
#pragma once

#include <string>

namespace stoker {

/// STOKER_CACHE_DIR, else "stoker" in XDG_CACHE_HOME or in ~/.cache; empty where none of them is set. It need not
/// exist.
std::string user_cache_folder();

}  // namespace stoker
