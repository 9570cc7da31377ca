// An HDF5 file's samples.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/format/hdf5/hdf5_format.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

constexpr std::size_t kFieldsRead = 256;  // of all: a small file may have many in one chunk

std::vector<std::string> scan(Bytes input, Hdf5Checksums checksums, bool& sound) {
  MemorySource source("fuzzed.h5", std::vector(input.begin(), input.end()));
  std::vector<std::string> found;
  std::size_t rows = 0, read = 0;
  sound = accepts({ErrorKind::kData, ErrorKind::kLimit}, [&] {
    Hdf5Samples samples(source, {}, checksums);
    SampleRow row;
    while (samples.next(row)) {
      require_that(++rows <= input.size(), "there are no more samples than bytes");
      require_that(!row.key.empty(), "a key names something");
      require_that(row.label >= -1, "a label is a number of a class, or unknown");
      if (read < kFieldsRead) found.push_back(row.key);
      for (const SampleField& field : row.fields) {
        require_that(!field.name.empty(), "a field has a name");
        require_that(std::none_of(field.name.begin(), field.name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }),
                     "a field's name is in lower case");
        if (++read > kFieldsRead) continue;
        std::string content(field.length, '?');
        read_fully(*row.source, field.offset, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
        found.push_back(content);
      }
    }
    require_that(!samples.next(row), "there is none after the last sample");
    for (std::string& problem : samples.take_notes().problems) found.push_back(std::move(problem));
  });
  return found;
}

void run(Bytes input) {
  bool sound = false, again = false;
  const std::vector<std::string> found = scan(input, Hdf5Checksums::kChecked, sound);
  // Few changes get past the checksums of newer files.
  const std::vector<std::string> unchecked = scan(input, Hdf5Checksums::kIgnored, again);
  if (sound) require_that(unchecked == found && again, "checksums only ever refuse");
}

const AnnounceFuzzTarget kTarget({.name = "hdf5", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
