// How fast the storage of local data gives them: in order, at random, opened one by one; cold and warm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/probe/probe_limits.h"
#include "stoker/format/dataset.h"
#include "stoker/runtime/open.h"

namespace stoker {

/// The files that some samples lie in, which stand for all.
struct DataFiles {
  struct File {
    std::string path;
    std::uint64_t bytes = 0;
  };
  std::vector<File> files;         // each once, in the order of the data set
  bool loose = false;              // a sample lies in files of its own
  std::uint64_t record_bytes = 0;  // the median sample
};

/// Looks at so many samples, spread over the data set. Nothing for data behind a network.
DataFiles find_data_files(const Dataset& dataset, std::int64_t samples_max);

/// Reads as a loader does that was opened with these options. What cannot be shown to come from the device has a
/// caveat. Throws kIo, naming the file that cannot be read.
StorageFacts probe_storage(const DataFiles& files, const OpenOptions& open, const ProbeLimits& limits,
                           std::vector<std::string>& doubts);

}  // namespace stoker
