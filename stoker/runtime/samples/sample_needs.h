// The memory that the largest samples of a data set take in a loader, each alone: a budget that is too small for one of
// them ends a run, perhaps after hours.
#pragma once

#include <cstdint>

#include "stoker/codec/image_decoder.h"
#include "stoker/format/dataset.h"
#include "stoker/plan/plan.h"

namespace stoker {

struct SampleNeeds {
  std::uint64_t sample_bytes = 0;  // of the fields that a plan reads
  std::uint64_t decode_bytes = 0;  // scratch memory that decoding it takes
};

/// The maximum of each. Rows give the sizes of samples, and indexes those of images; of images without an index the
/// headers are read, as many as fit into a second, the longest files first. Bad samples take nothing. Throws what
/// reading rows throws.
SampleNeeds largest_needs(const Dataset& dataset, const Plan& plan, const DecodeLimits& limits);

}  // namespace stoker
