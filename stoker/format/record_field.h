// Which field of a sample a view reads, by the name that its recipe gives.
#pragma once

#include <algorithm>
#include <string_view>

#include "stoker/format/sample_row.h"

namespace stoker {

/// SampleRow::find(), where "record", unless a field is called so, stands for the longest field, the first of several:
/// what a sample without pictures is about. Null where there is none.
inline const SampleField* find_field(const SampleRow& row, std::string_view name) {
  const SampleField* const found = row.find(name);
  if (found || name != "record" || row.fields.empty()) return found;
  return &*std::max_element(row.fields.begin(), row.fields.end(),
                            [](const SampleField& a, const SampleField& b) { return a.length < b.length; });
}

}  // namespace stoker
