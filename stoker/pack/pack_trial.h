// Packs samples from all over a data set in memory, to tell beforehand what packing all of it takes.
#pragma once

#include <cstdint>

#include "stoker/pack/pack_source.h"
#include "stoker/pack/pack_work.h"

namespace stoker {

struct PackTrial {
  std::int64_t kept = 0;     // of the samples: those that are not left out
  std::uint64_t bytes = 0;   // they take in shards
  std::uint64_t before = 0;  // they would take as they are
};

/// `count`: of samples, up to as many as there are.
PackTrial try_packing(const PackSource& source, const PackWork& work, const PackOptions& options, std::int64_t count);

/// The row as it is packed if its image stays as it is.
std::uint64_t bytes_untransformed(const SampleRow& row, std::int64_t label, const WritableFormat& format);

}  // namespace stoker
