#include "stoker/doctor/probe/data_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "stoker/storage/source.h"

namespace stoker {
namespace {

/// The folder's place in the list, which it is added to if it is new.
std::size_t number_of(const std::string& folder, std::vector<std::string>& folders) {
  const auto found = std::find(folders.begin(), folders.end(), folder);
  const std::ptrdiff_t number = found - folders.begin();
  if (found == folders.end()) folders.push_back(folder);
  return static_cast<std::size_t>(number);
}

}  // namespace

std::uint64_t DataFiles::bytes() const {
  std::uint64_t sum = 0;
  for (const File& file : files) sum += file.bytes;
  return sum;
}

std::vector<std::int64_t> spread_samples(const Dataset& dataset, std::int64_t count) {
  const std::int64_t size = dataset.size(), taken = std::min(count, size);
  std::vector<std::int64_t> samples;
  samples.reserve(static_cast<std::size_t>(taken));
  for (std::int64_t i = 0; i < taken; ++i) {
    // Without a product that overflows.
    samples.push_back(size / taken * i + size % taken * i / taken);
  }
  return samples;
}

DataFiles find_data_files(const Dataset& dataset, std::int64_t samples_max) {
  const std::vector<std::int64_t> samples = spread_samples(dataset, samples_max);
  dataset.prepare(samples);
  DataFiles found;
  std::unordered_set<std::string> known;
  const Source* last = nullptr;
  std::vector<std::uint64_t> records;
  SampleRow row;
  for (const std::int64_t sample : samples) {
    dataset.read(sample, row);
    if (!row.source || row.source->is_remote()) continue;
    records.push_back(row.bytes());
    for (const SampleField& field : row.fields) {
      if (field.length == 0 || (field.part.empty() && row.source == last)) continue;
      last = row.source;
      std::string path = field.part.empty() ? row.source->name() : row.source->name_of(field.part);
      struct stat facts {};
      // What a source makes up for messages is no file.
      if (!known.insert(path).second || ::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
      if (facts.st_size == 0) continue;
      DataFiles::File file{.path = std::move(path), .bytes = static_cast<std::uint64_t>(facts.st_size)};
      if (!field.part.empty()) {
        file.part = field.part;
        file.folder = number_of(row.source->name(), found.folders);
      }
      found.files.push_back(std::move(file));
    }
  }
  if (!records.empty()) {
    const auto middle = records.begin() + std::ssize(records) / 2;
    std::nth_element(records.begin(), middle, records.end());
    found.record_bytes = *middle;
  }
  return found;
}

}  // namespace stoker
