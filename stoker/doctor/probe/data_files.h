// The files of a data set that probes of storage read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/format/dataset.h"

namespace stoker {

/// The files that some samples lie in, which stand for all.
struct DataFiles {
  struct File {
    std::string path;
    std::uint64_t bytes = 0;
    std::string part{};      // of its folder, if it is loose: how a loader asks for it
    std::size_t folder = 0;  // which
  };
  std::vector<File> files;             // each once, in the order of the data set; none is empty
  std::uint64_t record_bytes = 0;      // the median sample, all of its fields
  std::vector<std::string> folders{};  // of loose files, where each sample has files of its own; none without them

  bool loose() const { return !folders.empty(); }

  std::uint64_t bytes() const;
};

/// Looks at so many samples, spread over the data set. No files for data behind a network, or in memory. Throws what
/// reading rows throws.
DataFiles find_data_files(const Dataset& dataset, std::int64_t samples_max);

/// So many numbers of samples, spread evenly over the data set; all of them if there are no more.
std::vector<std::int64_t> spread_samples(const Dataset& dataset, std::int64_t count);

}  // namespace stoker
