// A table of Arrow in a file of its own.
#include <cstddef>
#include <memory>

#include "fuzz/sample_scan.h"
#include "stoker/format/arrow/arrow_format.h"

namespace stoker {
namespace {

constexpr std::size_t kRowsLookedAt = 100'000;  // of millions that equal ones may be

void run(Bytes input) {
  check_scans(input, "train.arrow", begin_scan<ArrowSamples>,
              [](const SampleRow& row, std::vector<std::string>&) { require_lower_case(row); },
              {.rows_max = kRowsLookedAt});
}

const AnnounceFuzzTarget kTarget({.name = "arrow", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
