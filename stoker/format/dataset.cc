#include "stoker/format/dataset.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/escaped.h"
#include "stoker/base/units.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

std::string list_names(const std::vector<std::string>& classes) {
  if (classes.empty()) return "no class names";
  const std::string_view more = classes.size() > 2 ? ", ..." : "";
  return fmt::format("{} ({}{}{}{})", counted(classes.size(), "class"), classes[0], classes.size() > 1 ? ", " : "",
                     classes.size() > 1 ? classes[1] : "", more);
}

}  // namespace

SampleRow Dataset::row(std::int64_t sample) const {
  SampleRow row;
  read(sample, row);
  return row;
}

std::string Dataset::describe(std::int64_t sample) const { return stoker::describe(row(sample)); }

std::string describe(const SampleRow& row) {
  if (row.source == nullptr) return fmt::format("sample '{}'", escaped(row.key));
  return fmt::format("{}, sample '{}'", row.source->name(), escaped(row.key));
}

void require_same_classes(const std::string& a, const std::vector<std::string>& of_a, const std::string& b,
                          const std::vector<std::string>& of_b) {
  if (of_a == of_b) return;
  fail(ErrorKind::kData,
       "'{}' has {} but '{}' has {}; data sets can be read together only if their classes are the same", a,
       list_names(of_a), b, list_names(of_b));
}

void add_field_names(const std::vector<std::string>& names, std::vector<std::string>& into) {
  for (const std::string& name : names) {
    if (std::find(into.begin(), into.end(), name) == into.end()) into.push_back(name);
  }
}

}  // namespace stoker
