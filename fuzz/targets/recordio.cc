// A RecordIO file's samples.
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/recordio/recordio_format.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

std::vector<std::string> scan(Bytes input, bool& sound) {
  MemorySource source("fuzzed.rec", std::vector(input.begin(), input.end()));
  std::vector<std::string> found;
  sound = accepts({ErrorKind::kData}, [&] {
    RecordIoSamples samples(source);
    SampleRow row;
    while (samples.next(row)) {
      require_that(!row.key.empty(), "a key names something");
      require_that(row.label >= -1, "a label is a number of a class, or unknown");
      require_that(row.fields.size() == (row.label >= 0 ? 1 : 2), "a sample has a label or what stands for it");
      found.push_back(row.key);
      for (const SampleField& field : row.fields) {
        require_that(field.length > 0 && field.length <= input.size(), "a field is a part of the file");
        std::string content(field.length, '?');
        read_fully(*row.source, field.offset, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
        found.push_back(content);
      }
    }
    require_that(!samples.next(row), "there is none after the last sample");
  });
  return found;
}

void run(Bytes input) {
  bool sound = false, again = false;
  const std::vector<std::string> found = scan(input, sound);
  require_that(scan(input, again) == found && again == sound, "a scan says the same again");
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
