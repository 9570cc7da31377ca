// A table of Arrow in a file of its own.
#include <memory>

#include "fuzz/sample_scan.h"
#include "stoker/format/arrow/arrow_format.h"

namespace stoker {
namespace {

void run(Bytes input) {
  check_scans(input, "train.arrow", begin_scan<ArrowSamples>,
              [](const SampleRow& row, std::vector<std::string>&) { require_lower_case(row); });
}

const AnnounceFuzzTarget kTarget({.name = "arrow", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
