// The samples of a .beton file.
#include <string>
#include <vector>

#include "fuzz/sample_scan.h"
#include "stoker/format/beton/beton_format.h"

namespace stoker {
namespace {

void run(Bytes input) {
  const auto read = [](const SampleRow& row, std::vector<std::string>& found) {
    for (const SampleField& field : row.fields) {
      std::string content(field.length, '?');
      read_fully(*row.source, field.offset, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
      found.push_back(content);
    }
  };
  check_scans(
      input, "fuzzed.beton", [](Source& source) { return BetonSamples(source); }, read);
}

const AnnounceFuzzTarget kTarget({.name = "beton", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
