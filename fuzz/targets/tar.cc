// A tar's samples.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>

#include "fuzz/fuzz_target.h"
#include "stoker/format/tar/tar_format.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

constexpr std::size_t kRecord = 512;

/// What holds for every sample, whatever the tar. `end` is where the last field of the sample before ended.
void check_row(const SampleRow& row, Bytes tar, std::uint64_t& end) {
  require_that(!row.key.empty() && row.key.back() != '/', "a key names something");
  require_that(!row.fields.empty(), "a sample has fields");
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const SampleField& field = row.fields[i];
    require_that(field.offset % kRecord == 0, "a field begins with a record");
    require_that(field.offset <= tar.size() && field.length <= tar.size() - field.offset,
                 "a field lies inside the tar");
    require_that(field.offset >= end + kRecord, "a header stands before every field");
    end = field.offset + field.length;
    require_that(!field.name.empty(), "a field has a name");
    require_that(std::none_of(field.name.begin(), field.name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }),
                 "a field's name is in lower case");
    for (std::size_t j = 0; j < i; ++j) require_that(row.fields[j].name != field.name, "no sample has a field twice");
  }
  const SampleField* label = row.field("cls");
  require_that(row.label == -1 || (row.label >= 0 && label != nullptr), "a label comes of a field cls");
  if (row.label < 0) return;
  const std::string_view text = as_text(tar.subspan(label->offset, label->length));
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  std::int64_t number = -1;
  std::from_chars(text.data() + std::min(begin, text.size()), text.data() + text.size(), number);
  require_that(number == row.label, "a label is what the field cls says");
}

void run(Bytes input) {
  MemorySource source("fuzzed.tar", std::vector(input.begin(), input.end()));
  std::vector<SampleRow> rows;
  const bool sound = accepts({ErrorKind::kData}, [&] {
    TarSamples samples(source);
    SampleRow row;
    std::optional<std::string> last;
    std::uint64_t end = 0;
    while (samples.next(row)) {
      check_row(row, input, end);
      require_that(row.key != last, "members of one key that stand together are one sample");
      last = row.key;
      for (SampleField& field : row.fields) field.name = {};  // they live as long as `samples`
      rows.push_back(row);
    }
    require_that(!samples.next(row), "there is none after the last sample");
  });

  SampleTable table;
  require_that(accepts({ErrorKind::kData},
                       [&] {
                         TarSamples samples(source);
                         table = table_of(samples);
                       }) == sound,
               "a scan says the same again");
  if (!sound) return;
  require_that(table.size() == static_cast<std::int64_t>(rows.size()), "a scan finds the samples");
  SampleRow row;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table.read(static_cast<std::int64_t>(i), row);
    require_that(row.key == rows[i].key && row.label == rows[i].label && row.fields.size() == rows[i].fields.size(),
                 "a scan finds the same samples");
    for (std::size_t field = 0; field < row.fields.size(); ++field) {
      require_that(row.fields[field].offset == rows[i].fields[field].offset &&
                       row.fields[field].length == rows[i].fields[field].length,
                   "a scan finds the same fields");
    }
  }
}

/// Puts the right checksum into every header, as far as one leads to the next.
void repair(std::vector<std::uint8_t>& input) {
  constexpr std::size_t kSizeAt = 124, kSumAt = 148, kSumBytes = 8;
  for (std::size_t at = 0; at + kRecord <= input.size();) {
    std::uint8_t* header = input.data() + at;
    at += kRecord;
    if (std::all_of(header, header + kRecord, [](std::uint8_t byte) { return byte == 0; })) continue;
    std::uint64_t size = 0;
    const char* digits = reinterpret_cast<const char*>(header) + kSizeAt;
    std::from_chars(digits, digits + 12, size, 8);
    std::fill_n(header + kSumAt, kSumBytes, std::uint8_t{' '});
    unsigned sum = 0;
    for (std::size_t i = 0; i < kRecord; ++i) sum += header[i];
    for (std::size_t digit = 6; digit-- > 0; sum /= 8)
      header[kSumAt + digit] = static_cast<std::uint8_t>('0' + sum % 8);
    header[kSumAt + 6] = 0;
    if (size > input.size() - at) continue;
    at += (size + kRecord - 1) / kRecord * kRecord;
  }
}

const AnnounceFuzzTarget kTarget({.name = "tar", .run = run, .repair = repair, .places_max = 300});

}  // namespace
}  // namespace stoker
