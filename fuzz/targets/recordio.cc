// A RecordIO file's samples.
#include <string>
#include <vector>

#include "fuzz/sample_scan.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/recordio/recordio_format.h"

namespace stoker {
namespace {

void run(Bytes input) {
  check_scans(input, "fuzzed.rec", begin_scan<RecordIoSamples>,
              [&](const SampleRow& row, std::vector<std::string>& found) {
                // A label that is NaN is none.
                require_that(row.fields.size() == 1 || (row.fields.size() == 2 && row.label < 0),
                             "labels that are no class stand in a field of their own");
                for (const SampleField& field : row.fields) {
                  require_that(field.length > 0 && field.length <= input.size(), "a field is a part of the file");
                  found.push_back(content_of(row, field));
                }
              });
}

/// Puts the magic number before every part, as far as one leads to the next.
void repair(std::vector<std::uint8_t>& input) {
  for (std::size_t at = 0; input.size() - at >= kRecordIoHeaderBytes;) {
    store_little_endian(input.data() + at, kRecordIoMagic);
    const std::size_t length = load_little_endian<std::uint32_t>(input.data() + at + 4) & 0x1fffffff;
    const std::size_t padded = (length + 3) / 4 * 4;
    at += kRecordIoHeaderBytes;
    if (padded > input.size() - at) return;
    at += padded;
  }
}

const AnnounceFuzzTarget kTarget({.name = "recordio", .run = run, .repair = repair, .places_max = 300});

}  // namespace
}  // namespace stoker
