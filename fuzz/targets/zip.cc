// A zip file's samples.
#include <string>
#include <vector>

#include "fuzz/sample_scan.h"
#include "stoker/format/zip/zip_format.h"

namespace stoker {
namespace {

// No more is decompressed of one field.
constexpr std::uint64_t kReadBytesMax = 1 << 20;

void run(Bytes input) {
  const auto look = [&](const SampleRow& row, std::vector<std::string>& found) {
    require_that(row.image_field() != nullptr, "a sample has an image");
    for (const SampleField& field : row.fields) {
      require_that(field.crc32.has_value(), "a member has a checksum");
      if (field.length > kReadBytesMax) continue;
      std::string content = "damaged";
      const bool is_read = accepts({ErrorKind::kData}, [&] { content = content_of(row, field); });
      require_that(is_read || field.offset > input.size(), "stored bytes can be read");
      found.push_back(std::move(content));
    }
  };
  check_scans(input, "fuzzed.zip", [](Source& source) { return ZipFormat().scan(source, {}); }, look,
              {.are_sorted = false});
}

const AnnounceFuzzTarget kTarget({.name = "zip", .run = run, .places_max = 600});

}  // namespace
}  // namespace stoker
