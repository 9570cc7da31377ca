// A Parquet file's samples.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/format/parquet/parquet_format.h"
#include "stoker/format/parquet/parquet_runs.h"
#include "stoker/format/parquet/thrift_reader.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

constexpr std::uint64_t kPagesBytesMax = std::uint64_t{64} << 20;
constexpr std::size_t kFieldsRead = 256;  // of all: a small file may have many in one page

/// What holds for every sample, whatever the file.
void check_row(const SampleRow& row) {
  require_that(!row.key.empty(), "a key names something");
  require_that(row.label >= -1, "a label is a number of a class, or unknown");
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const SampleField& field = row.fields[i];
    require_that(field.offset >= 4, "a field does not lie in the magic number");
    require_that(!field.name.empty(), "a field has a name");
    require_that(std::none_of(field.name.begin(), field.name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }),
                 "a field's name is in lower case");
    require_that(i == 0 || row.fields[i - 1].name < field.name, "fields stand in the order of their names");
  }
}

std::vector<std::string> scan(Bytes input, bool& sound) {
  MemorySource source("fuzzed.parquet", std::vector(input.begin(), input.end()));
  std::vector<std::string> found;
  sound = accepts({ErrorKind::kData, ErrorKind::kLimit}, [&] {
    ParquetSamples samples(source, {}, kPagesBytesMax);
    SampleRow row;
    while (samples.next(row)) {
      check_row(row);
      found.push_back(row.key);
      for (const SampleField& field : row.fields) {
        require_that(field.length <= kPagesBytesMax, "a field is a part of a page");
        if (found.size() > kFieldsRead) continue;
        std::string content(field.length, '?');
        read_fully(*row.source, field.offset, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
        found.push_back(content);
      }
    }
    require_that(!samples.next(row), "there is none after the last sample");
  });
  return found;
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
  bool sound = false, again = false;
  const std::vector<std::string> found = scan(input, sound);
  require_that(scan(input, again) == found && again == sound, "a scan says the same again");
  parse_parts(input);
}

const AnnounceFuzzTarget kTarget({.name = "parquet", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
