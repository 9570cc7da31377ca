// Which field of a sample a view reads, by the name that its recipe gives.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

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

/// Gives the row those of these fields that it lacks, without bytes, where its first field begins. The names outlive
/// it.
inline void add_lacking_fields(SampleRow& row, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (find_field(row, name)) continue;
    SampleField empty{.name = name, .part = {}};
    if (!row.fields.empty()) {
      empty.part = row.fields.front().part;
      empty.offset = row.fields.front().offset;
    }
    row.fields.push_back(empty);
  }
}

}  // namespace stoker
