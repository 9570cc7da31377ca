// An HDF5 file's samples.
#include <string>
#include <vector>

#include "fuzz/sample_scan.h"
#include "stoker/format/hdf5/hdf5_format.h"

namespace stoker {
namespace {

constexpr std::size_t kFieldsRead = 256;  // of all: a small file may have many in one chunk

ScanOutcome scan(Bytes input, Hdf5Checksums checksums) {
  std::size_t rows = 0, read = 0;
  const auto begin = [&](Source& source) {
    return std::make_unique<Hdf5Samples>(source, std::stop_token(), checksums);
  };
  const auto look = [&](const SampleRow& row, std::vector<std::string>& found) {
    require_that(++rows <= input.size(), "there are no more samples than bytes");
    require_lower_case(row);
    for (const SampleField& field : row.fields) {
      if (read++ < kFieldsRead) found.push_back(content_of(row, field));
    }
  };
  return scan_samples(input, "fuzzed.h5", begin, look,
                      {.also_refuses = ErrorKind::kLimit, .may_lack_fields = true, .are_sorted = false});
}

void run(Bytes input) {
  const ScanOutcome checked = scan(input, Hdf5Checksums::kChecked);
  // Few changes get past the checksums of newer files.
  const ScanOutcome unchecked = scan(input, Hdf5Checksums::kIgnored);
  if (checked.sound) require_that(unchecked == checked, "checksums only ever refuse");
}

const AnnounceFuzzTarget kTarget({.name = "hdf5", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
