// A Parquet file's samples.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/sample_scan.h"
#include "stoker/format/parquet/parquet_format.h"
#include "stoker/format/parquet/thrift_reader.h"
#include "stoker/storage/packed_integers.h"

namespace stoker {
namespace {

constexpr std::uint64_t kPagesBytesMax = std::uint64_t{64} << 20;
constexpr std::size_t kFieldsRead = 256;  // of all: a small file may have many in one page
constexpr std::size_t kBytesRead = std::size_t{16} << 20;

void scan(Bytes input) {
  const auto begin = [](Source& source) {
    return std::make_unique<ParquetSamples>(source, std::stop_token(), kPagesBytesMax);
  };
  const auto look = [](const SampleRow& row, std::vector<std::string>& found) {
    require_lower_case(row);
    for (const SampleField& field : row.fields) {
      require_that(field.offset >= 4, "a field does not lie in the magic number");
      require_that(field.length <= kBlockBytesMax + ParquetRowColumn::kJoinedBytesMax, "a field is a part of a page");
      // A few bytes may stand for many equal numbers.
      if (found.size() <= kFieldsRead && field.length <= kBytesRead) found.push_back(content_of(row, field));
    }
  };
  check_scans(input, "fuzzed.parquet", begin, look, {.also_refuses = ErrorKind::kLimit, .may_lack_fields = true});
}

/// The parsers alone, on bytes that no checksum and no length guards.
void parse_parts(Bytes input) {
  accepts({ErrorKind::kData}, [&] {
    ThriftReader reader(input);
    reader.read_struct([&](int, ThriftType type) { reader.skip(type); });
    require_that(reader.position() <= input.size(), "what was read is there");
  });
  accepts({ErrorKind::kData}, [&] {
    const std::uint32_t bits = input.empty() ? 0 : input[0] % (RunLengthReader::kBitsMax + 1);
    RunLengthReader runs(input.subspan(input.empty() ? 0 : 1), bits);
    for (int i = 0; i < 1000; ++i) {
      const std::uint32_t value = runs.next();
      require_that(bits > 24 || value >> ((bits + 7) / 8 * 8) == 0, "a value has no more bytes than its bits take");
    }
  });
  accepts({ErrorKind::kData}, [&] {
    DeltaReader deltas(input);
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(deltas.count(), 10000); ++i) deltas.next();
    require_that(deltas.end() <= input.size(), "what was read is there");
  });
}

void run(Bytes input) {
  scan(input);
  parse_parts(input);
}

const AnnounceFuzzTarget kTarget({.name = "parquet", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
