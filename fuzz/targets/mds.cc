// An MDS shard's samples.
#include <string>
#include <vector>

#include "fuzz/sample_scan.h"
#include "stoker/format/mds/mds_format.h"

namespace stoker {
namespace {

void run(Bytes input) {
  check_scans(input, "fuzzed.mds", begin_scan<MdsSamples>, [](const SampleRow&, std::vector<std::string>&) {});
}

const AnnounceFuzzTarget kTarget({.name = "mds", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
