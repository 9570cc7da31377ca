#include "stoker/format/field_names.h"

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {

void check_name(std::string_view name) {
  if (name.size() <= kNameBytesMax) return;
  fail(ErrorKind::kData, "a name in it, '{}...', has {}; the limit is {}", name.substr(0, 40), byte_count(name.size()),
       kNameBytesMax);
}

std::string checked_name(std::string name) {
  check_name(name);
  return name;
}

std::string_view FieldNames::keep(std::string_view name) {
  const auto found = names_.find(name);
  if (found != names_.end()) return *found;
  check_name(name);
  if (names_.size() == kNamesMax) {
    fail(ErrorKind::kData, "with '{}' it has more than {} different names of fields", name.substr(0, 40), kNamesMax);
  }
  return *names_.emplace(name).first;
}

}  // namespace stoker
