// The rows of a list that points to files.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/format/list/list_rows.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

std::vector<std::string> take_rows(ListRows& rows, std::size_t size) {
  std::vector<std::string> found;
  for (ListRow row; rows.next(row);) {
    found.push_back(row.path + '\n' + row.label.value_or("-"));
    for (const ListFile& file : row.files) {
      require_that(!file.field.empty() && !file.path.empty(), "a file has a field and a path");
      found.push_back(file.field + '\n' + file.path);
    }
    for (const ListValue& value : row.values) {
      require_that(!value.name.empty(), "a value has a name");
      require_that(value.text || (value.offset <= size && value.length <= size - value.offset),
                   "a value without a text is a part of the list");
      found.push_back(value.name + '\n' + value.text.value_or("-"));
    }
  }
  return found;
}

void run(Bytes input) {
  MemorySource source("fuzzed.list", std::vector(input.begin(), input.end()));
  const ListKind kind = kind_of_list(input.first(std::min<std::size_t>(input.size(), 512)), "fuzzed.list");
  if (kind == ListKind::kNone) return;
  accepts({ErrorKind::kData}, [&] {
    const std::unique_ptr<ListRows> rows = kind == ListKind::kJson ? json_rows(source, {}) : table_rows(source);
    const std::vector<std::string> found = take_rows(*rows, input.size());
    rows->rewind();
    require_that(take_rows(*rows, input.size()) == found, "the rows are the same again");
  });
}

const AnnounceFuzzTarget kTarget({.name = "list", .run = run});

}  // namespace
}  // namespace stoker
