// An LMDB file's samples.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/lmdb/lmdb_format.h"
#include "stoker/format/lmdb/lmdb_page.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

std::vector<std::string> scan(Bytes input, bool& sound) {
  MemorySource source("fuzzed.mdb", std::vector(input.begin(), input.end()));
  std::vector<std::string> found;
  sound = accepts({ErrorKind::kData}, [&] {
    const std::unique_ptr<ShardScan> samples = LmdbFormat().scan(source, {});
    SampleRow row;
    while (samples->next(row)) {
      require_that(!row.key.empty(), "a key names something");
      require_that(row.label >= -1, "a label is a number of a class, or unknown");
      require_that(!row.fields.empty(), "a sample has fields");
      found.push_back(row.key);
      for (const SampleField& field : row.fields) {
        require_that(field.offset >= 2 * kLmdbPageBytesMin && field.offset <= input.size() &&
                         field.length <= input.size() - field.offset,
                     "a field lies inside the file, after its meta pages");
        require_that(!field.name.empty(), "a field has a name");
        require_that(std::none_of(field.name.begin(), field.name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }),
                     "a field's name is in lower case");
      }
      require_that(found.size() <= input.size() / kLmdbNodeHeaderBytes, "no more samples than there is room for");
    }
    require_that(!samples->next(row), "there is none after the last sample");
    for (std::string& problem : samples->take_notes().problems) found.push_back(std::move(problem));
  });
  return found;
}

void run(Bytes input) {
  bool sound = false, again = false;
  const std::vector<std::string> found = scan(input, sound);
  require_that(scan(input, again) == found && again == sound, "a scan says the same again");
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
