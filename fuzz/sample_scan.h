// What holds for the samples of a shard, whatever bytes it is made of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/format/shard_format.h"
#include "stoker/storage/block_table.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {

/// Of a shard whose fields lie in the file, or in what blocks of it become.
inline void check_row(const SampleRow& row, Bytes file) {
  require_that(!row.key.empty(), "a key names something");
  require_that(row.label >= -1, "a label is a number of a class, or unknown");
  require_that(!row.fields.empty(), "a sample has fields");
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const SampleField& field = row.fields[i];
    const bool is_inside = field.offset <= file.size() && field.length <= file.size() - field.offset;
    require_that(is_inside || field.offset >= file.size() + BlockTable::kGapBytes,
                 "a field lies in the file or in what it becomes");
    require_that(!field.name.empty(), "a field has a name");
    require_that(i == 0 || row.fields[i - 1].name < field.name, "fields stand in the order of their names");
  }
}

/// Scans the input twice, as a file of this name; `samples_of` begins a scan of a source, and `look` is told each row
/// and may add to what both scans are to find.
template <typename SamplesOf, typename Look>
void check_scans(Bytes input, const char* name, const SamplesOf& samples_of, const Look& look) {
  const auto scan = [&](bool& sound) {
    MemorySource source(name, std::vector(input.begin(), input.end()));
    std::vector<std::string> found;
    sound = accepts({ErrorKind::kData}, [&] {
      auto samples = samples_of(source);
      SampleRow row;
      while (samples.next(row)) {
        check_row(row, input);
        found.push_back(row.key);
        look(row, found);
      }
      require_that(!samples.next(row), "there is none after the last sample");
      samples.take_notes();
    });
    return found;
  };
  bool sound = false, again = false;
  const std::vector<std::string> found = scan(sound);
  require_that(scan(again) == found && again == sound, "a scan says the same again");
}

}  // namespace stoker
