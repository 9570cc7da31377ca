// A TFRecord file's samples.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/tfrecord/tfrecord_format.h"
#include "stoker/format/tfrecord/tfrecord_frame.h"
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
    require_that(field.offset >= kTfRecordHeaderBytes && field.offset <= file.size() &&
                     field.length <= file.size() - field.offset,
                 "a field lies inside the file");
    require_that(!field.name.empty(), "a field has a name");
    require_that(std::none_of(field.name.begin(), field.name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }),
                 "a field's name is in lower case");
    require_that(i == 0 || row.fields[i - 1].name < field.name, "fields stand in the order of their names");
  }
}

std::vector<std::string> scan(Bytes input, bool& sound) {
  MemorySource source("fuzzed.tfrecord", std::vector(input.begin(), input.end()));
  std::vector<std::string> keys;
  sound = accepts({ErrorKind::kData}, [&] {
    TfRecordSamples samples(source);
    SampleRow row;
    while (samples.next(row)) {
      check_row(row, input);
      keys.push_back(row.key);
    }
    require_that(!samples.next(row), "there is none after the last sample");
  });
  return keys;
}

void run(Bytes input) {
  bool sound = false, again = false;
  const std::vector<std::string> keys = scan(input, sound);
  require_that(scan(input, again) == keys && again == sound, "a scan says the same again");
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
