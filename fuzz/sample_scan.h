// What holds for the samples of a shard, whatever bytes it is made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/format/shard_format.h"
#include "stoker/storage/block_table.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {

/// In what a format differs from the others.
struct ScanRules {
  ErrorKind also_refuses = ErrorKind::kData;  // what is damaged, and this
  bool may_lack_fields = false;               // where all values of a sample are null
  bool are_sorted = true;                     // a sample's fields, by their names
  std::size_t rows_max = SIZE_MAX;            // no more are looked at: rows may be arithmetic
};

/// What a scan found, and whether it came to the end of a sound shard.
struct ScanOutcome {
  std::vector<std::string> found{};
  bool sound = false;

  bool operator==(const ScanOutcome&) const = default;
};

/// Of a shard whose fields lie in the file, or in what blocks of it become.
inline void check_row(const SampleRow& row, Bytes file, const ScanRules& rules = {}) {
  require_that(!row.key.empty(), "a key names something");
  require_that(row.label >= -1, "a label is a number of a class, or unknown");
  require_that(!row.fields.empty() || rules.may_lack_fields, "a sample has fields");
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const SampleField& field = row.fields[i];
    const bool is_inside = field.offset <= file.size() && field.length <= file.size() - field.offset;
    require_that(is_inside || field.offset >= file.size() + BlockTable::kGapBytes,
                 "a field lies in the file or in what it becomes");
    require_that(!field.name.empty() && field.part.empty(), "a field has a name, and lies in the shard itself");
    require_that(!rules.are_sorted || i == 0 || row.fields[i - 1].name < field.name,
                 "fields stand in the order of their names");
  }
}

inline void require_lower_case(const SampleRow& row) {
  for (const SampleField& field : row.fields) {
    require_that(std::none_of(field.name.begin(), field.name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }),
                 "a field's name is in lower case");
  }
}

/// The bytes of a field. Throws what reading throws.
inline std::string content_of(const SampleRow& row, const SampleField& field) {
  std::string content(field.length, '?');
  read_fully(*row.source, field.offset, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
  return content;
}

/// Scans the input as a file of this name; `samples_of` begins a scan of a source, and `look` is told each row and may
/// add to what is found.
template <typename SamplesOf, typename Look>
ScanOutcome scan_samples(Bytes input, const char* name, const SamplesOf& samples_of, const Look& look,
                         const ScanRules& rules = {}) {
  MemorySource source(name, std::vector(input.begin(), input.end()));
  ScanOutcome outcome;
  const auto scan = [&] {
    const std::unique_ptr<ShardScan> samples = samples_of(source);
    SampleRow row;
    std::size_t rows = 0;
    for (; rows < rules.rows_max && samples->next(row); ++rows) {
      check_row(row, input, rules);
      outcome.found.push_back(row.key);
      look(row, outcome.found);
    }
    if (rows < rules.rows_max) require_that(!samples->next(row), "there is none after the last sample");
    for (std::string& problem : samples->take_notes().problems) outcome.found.push_back(std::move(problem));
  };
  outcome.sound = accepts({ErrorKind::kData, rules.also_refuses}, scan);
  return outcome;
}

/// The same twice: both find the same.
template <typename SamplesOf, typename Look>
void check_scans(Bytes input, const char* name, const SamplesOf& samples_of, const Look& look,
                 const ScanRules& rules = {}) {
  const ScanOutcome first = scan_samples(input, name, samples_of, look, rules);
  require_that(scan_samples(input, name, samples_of, look, rules) == first, "a scan says the same again");
}

/// For formats whose scan is a class of its own.
template <typename Samples>
std::unique_ptr<ShardScan> begin_scan(Source& source) {
  return std::make_unique<Samples>(source);
}

}  // namespace stoker
