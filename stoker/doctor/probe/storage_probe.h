// How fast the storage of local data gives them: in order, at random, opened one by one; cold and warm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/probe/data_files.h"
#include "stoker/doctor/probe/probe_limits.h"
#include "stoker/runtime/open.h"

namespace stoker {

/// Reads as a loader does that was opened with these options; there must be a file.
/// What cannot be shown to come from the device has a
/// caveat. Throws kIo, naming the file that cannot be read.
StorageFacts probe_storage(const DataFiles& files, const OpenOptions& open, const ProbeLimits& limits,
                           std::vector<std::string>& doubts);

}  // namespace stoker
