#include "stoker/base/user_cache.h"

#include <cstdlib>

namespace stoker {

std::string user_cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  if (std::string own = variable("STOKER_CACHE_DIR"); !own.empty()) return own;
  if (const std::string caches = variable("XDG_CACHE_HOME"); !caches.empty()) return caches + "/stoker";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/stoker";
  return {};
}

}  // namespace stoker
