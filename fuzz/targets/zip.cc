// A zip file's samples.
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/format/zip/zip_format.h"
#include "stoker/storage/block_source.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

// No more is decompressed of one field.
constexpr std::uint64_t kReadBytesMax = 1 << 20;

/// What holds for every sample, whatever the file.
void check_row(const SampleRow& row, Bytes file, std::vector<std::string>& found) {
  require_that(!row.key.empty(), "a key names something");
  require_that(row.label >= -1, "a label is a number of a class, or unknown");
  require_that(!row.fields.empty() && row.image_field() != nullptr, "a sample has an image");
  found.push_back(row.key);
  for (const SampleField& field : row.fields) {
    require_that(!field.name.empty() && field.part.empty(), "a field has a name and lies in the zip itself");
    const bool is_stored = field.offset <= file.size() && field.length <= file.size() - field.offset;
    require_that(is_stored || field.offset >= file.size() + BlockTable::kGapBytes,
                 "a field lies in the zip or in a block");
    if (field.length > kReadBytesMax) continue;
    std::vector<std::uint8_t> content(field.length);
    const bool is_read = accepts({ErrorKind::kData}, [&] { read_fully(*row.source, field.offset, content); });
    require_that(is_read || !is_stored, "stored bytes can be read");
    found.emplace_back(is_read ? as_text(content) : "damaged");
  }
}

std::vector<std::string> scan(Bytes input, bool& sound) {
  MemorySource source("fuzzed.zip", std::vector(input.begin(), input.end()));
  std::vector<std::string> found;
  sound = accepts({ErrorKind::kData}, [&] {
    const std::unique_ptr<ShardScan> scan = ZipFormat().scan(source, {});
    SampleRow row;
    while (scan->next(row)) check_row(row, input, found);
    require_that(!scan->next(row), "there is none after the last sample");
    scan->take_notes();
  });
  return found;
}

void run(Bytes input) {
  bool sound = false, again = false;
  const std::vector<std::string> found = scan(input, sound);
  require_that(scan(input, again) == found && again == sound, "a scan says the same again");
}

const AnnounceFuzzTarget kTarget({.name = "zip", .run = run, .places_max = 600});

}  // namespace
}  // namespace stoker
