// How many files a second can be opened and looked at.
#pragma once

#include <cstdint>
#include <span>

#include "stoker/base/executor.h"
#include "stoker/doctor/probe/data_files.h"

namespace stoker {

struct TimedOpens {
  std::int64_t files = 0;
  std::int64_t ns = 0;

  double per_s() const { return ns > 0 ? static_cast<double>(files) * 1e9 / static_cast<double>(ns) : 0; }
};

/// Opens, looks at and closes each of these once, until `most_ns` have passed, `at_once` at a time on threads of the
/// executor. Throws kIo or kNotFound, naming the file.
TimedOpens time_opens(std::span<const DataFiles::File> files, Executor& executor, int at_once, std::int64_t most_ns);

/// Has the page cache drop what it holds of a file, once that is on disk. Throws kIo or kNotFound.
void drop_from_page_cache(const DataFiles::File& file);

}  // namespace stoker
