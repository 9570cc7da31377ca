// A TFRecord file's samples.
#include <string>
#include <vector>

#include "fuzz/sample_scan.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/tfrecord/tfrecord_format.h"
#include "stoker/format/tfrecord/tfrecord_frame.h"

namespace stoker {
namespace {

void run(Bytes input) {
  check_scans(input, "fuzzed.tfrecord", begin_scan<TfRecordSamples>,
              [&](const SampleRow& row, std::vector<std::string>&) {
                require_lower_case(row);
                for (const SampleField& field : row.fields) {
                  require_that(field.offset >= kTfRecordHeaderBytes && field.offset + field.length <= input.size(),
                               "a field lies in a record");
                }
              });
}

/// Puts the right checksums into every record, as far as one leads to the next.
void repair(std::vector<std::uint8_t>& input) {
  for (std::size_t at = 0; input.size() - at >= kTfRecordHeaderBytes + kTfRecordFooterBytes;) {
    std::uint8_t* const header = input.data() + at;
    store_little_endian(header + 8, masked_crc32c({header, 8}));
    const auto length = load_little_endian<std::uint64_t>(header);
    at += kTfRecordHeaderBytes;
    if (length > input.size() - at - kTfRecordFooterBytes) return;
    const std::uint8_t* const data = input.data() + at;
    at += length;
    store_little_endian(input.data() + at, masked_crc32c({data, length}));
    at += kTfRecordFooterBytes;
  }
}

const AnnounceFuzzTarget kTarget({.name = "tfrecord", .run = run, .repair = repair, .places_max = 300});

}  // namespace
}  // namespace stoker
