// The samples of a .beton file.
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/format/beton/beton_format.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

/// What holds for every sample, whatever the file.
void check_row(const SampleRow& row, Bytes file) {
  require_that(!row.key.empty(), "a key names something");
  require_that(row.label >= -1, "a label is a number of a class, or unknown");
  require_that(!row.fields.empty(), "a sample has fields");
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const SampleField& field = row.fields[i];
    const bool is_inside = field.offset <= file.size() && field.length <= file.size() - field.offset;
    require_that(is_inside || field.offset >= file.size() + BlockTable::kGapBytes,
                 "a field lies in the file or in a row of pixels");
    require_that(!field.name.empty(), "a field has a name");
    require_that(i == 0 || row.fields[i - 1].name < field.name, "fields stand in the order of their names");
  }
}

std::vector<std::string> scan(Bytes input, bool& sound) {
  MemorySource source("fuzzed.beton", std::vector(input.begin(), input.end()));
  std::vector<std::string> found;
  sound = accepts({ErrorKind::kData}, [&] {
    BetonSamples samples(source);
    SampleRow row;
    while (samples.next(row)) {
      check_row(row, input);
      found.push_back(row.key);
      for (const SampleField& field : row.fields) {
        std::string content(field.length, '?');
        read_fully(*row.source, field.offset, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
        found.push_back(content);
      }
    }
    require_that(!samples.next(row), "there is none after the last sample");
    samples.take_notes();
  });
  return found;
}

void run(Bytes input) {
  bool sound = false, again = false;
  const std::vector<std::string> found = scan(input, sound);
  require_that(scan(input, again) == found && again == sound, "a scan says the same again");
}

const AnnounceFuzzTarget kTarget({.name = "beton", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
