// The samples of a .beton file.
#include <string>
#include <vector>

#include "fuzz/sample_scan.h"
#include "stoker/format/beton/beton_format.h"

namespace stoker {
namespace {

void run(Bytes input) {
  const auto read = [](const SampleRow& row, std::vector<std::string>& found) {
    for (const SampleField& field : row.fields) found.push_back(content_of(row, field));
  };
  check_scans(input, "fuzzed.beton", begin_scan<BetonSamples>, read);
}

const AnnounceFuzzTarget kTarget({.name = "beton", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
