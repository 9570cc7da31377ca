// An LMDB file's samples.
#include <string>
#include <vector>

#include "fuzz/sample_scan.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/lmdb/lmdb_format.h"
#include "stoker/format/lmdb/lmdb_page.h"

namespace stoker {
namespace {

void run(Bytes input) {
  const auto look = [&](const SampleRow& row, std::vector<std::string>& found) {
    require_lower_case(row);
    for (const SampleField& field : row.fields) {
      require_that(field.offset >= 2 * kLmdbPageBytesMin && field.offset + field.length <= input.size(),
                   "a field lies inside the file, after its meta pages");
    }
    require_that(found.size() <= input.size() / kLmdbNodeHeaderBytes, "no more samples than there is room for");
  };
  check_scans(input, "fuzzed.mdb", [](Source& source) { return LmdbFormat().scan(source, {}); }, look,
              {.are_sorted = false});
}

/// Puts the right numbers into the pages, of 512 bytes, and what makes the meta pages ones of LMDB.
void repair(std::vector<std::uint8_t>& input) {
  constexpr std::size_t kPage = kLmdbPageBytesMin, kPageSizeAt = kLmdbPageHeaderBytes + 24;
  for (std::size_t page = 0; (page + 1) * kPage <= input.size(); ++page) {
    std::uint8_t* const begin = input.data() + page * kPage;
    store_little_endian(begin, std::uint64_t{page});
    if (page > 1) continue;
    store_little_endian(begin + 10, std::uint16_t{kLmdbMeta});
    store_little_endian(begin + kLmdbPageHeaderBytes, kLmdbMagic);
    store_little_endian(begin + kLmdbPageHeaderBytes + 4, kLmdbVersion);
    store_little_endian(begin + kPageSizeAt, static_cast<std::uint32_t>(kPage));
  }
}

const AnnounceFuzzTarget kTarget({.name = "lmdb", .run = run, .repair = repair, .places_max = 300});

}  // namespace
}  // namespace stoker
