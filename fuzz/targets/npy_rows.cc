// The rows of numpy's arrays: an npy file or an npz.
#include <string>
#include <vector>

#include "fuzz/sample_scan.h"
#include "stoker/format/npy/npy_format.h"

namespace stoker {
namespace {

// An array may say that it has any number of rows, if they are small: no more are looked at.
constexpr std::size_t kRowsMax = 1000;
constexpr std::uint64_t kReadBytesMax = 1 << 20;

void run(Bytes input) {
  const auto look = [](const SampleRow& row, std::vector<std::string>& found) {
    for (const SampleField& field : row.fields) {
      require_that(field.name.ends_with("npy"), "a field is an array");
      if (field.length > kReadBytesMax) continue;
      std::string content;
      if (!accepts({ErrorKind::kData}, [&] { content = content_of(row, field); })) continue;
      require_that(content.starts_with("\x93NUMPY"), "a row is an array by itself");
      found.push_back(std::move(content));
    }
  };
  const ScanRules rules{.also_refuses = ErrorKind::kUsage,  // a choice, where arrays have different lengths
                        .may_lack_fields = true,
                        .are_sorted = false,
                        .rows_max = kRowsMax};
  for (const std::string_view images : {"", "x"}) {
    check_scans(
        input, "fuzzed.npy", [&](Source& source) { return NpyFormat().scan_set(source, images, {}); }, look, rules);
  }
}

const AnnounceFuzzTarget kTarget({.name = "npy_rows", .run = run, .places_max = 600});

}  // namespace
}  // namespace stoker
