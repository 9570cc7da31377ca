#include "stoker/format/key_prefix.h"

#include <algorithm>

namespace stoker {

std::string key_prefix_of_file(std::string_view path, std::initializer_list<std::string_view> endings) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view ending : endings) {
    if (name.size() > ending.size() && name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  std::string prefix(name);
  std::replace(prefix.begin(), prefix.end(), '.', '_');
  return prefix + '/';
}

}  // namespace stoker
