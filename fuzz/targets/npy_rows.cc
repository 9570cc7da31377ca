// The rows of numpy's arrays: an npy file or an npz.
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/format/npy/npy_format.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

// An array may say that it has any number of rows, if they are small: no more are looked at.
constexpr int kRowsMax = 1000;
constexpr std::uint64_t kReadBytesMax = 1 << 20;

std::vector<std::string> scan(Bytes input, bool& sound) {
  MemorySource source("fuzzed.npy", std::vector(input.begin(), input.end()));
  std::vector<std::string> found;
  sound = accepts({ErrorKind::kData}, [&] {
    const std::unique_ptr<ShardScan> scan = NpyFormat().scan(source, {});
    SampleRow row;
    for (int i = 0; i < kRowsMax && scan->next(row); ++i) {
      require_that(!row.key.empty() && row.label >= -1, "a sample has a key, and a label that is one or is unknown");
      found.push_back(row.key);
      for (const SampleField& field : row.fields) {
        require_that(field.name.ends_with("npy") && field.part.empty(), "a field is an array");
        if (field.length > kReadBytesMax) continue;
        std::vector<std::uint8_t> content(field.length);
        if (!accepts({ErrorKind::kData}, [&] { read_fully(*row.source, field.offset, content); })) continue;
        require_that(as_text(content).starts_with("\x93NUMPY"), "a row is an array by itself");
        found.emplace_back(as_text(content));
      }
    }
    scan->take_notes();
  });
  return found;
}

void run(Bytes input) {
  bool sound = false, again = false;
  const std::vector<std::string> found = scan(input, sound);
  require_that(scan(input, again) == found && again == sound, "a scan says the same again");
}

const AnnounceFuzzTarget kTarget({.name = "npy_rows", .run = run, .places_max = 600});

}  // namespace
}  // namespace stoker
