// What the largest samples of a data set take of a loader's memory, each by itself: a budget that does not hold one of
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

/// The most of each. Rows tell how large samples are, and indexes how large images are; of those that no index knows
/// the headers are looked at, as many as a second is enough for, the longest files first. Bad samples take nothing.
/// Throws what reading rows throws.
SampleNeeds largest_needs(const Dataset& dataset, const Plan& plan, const DecodeLimits& limits);

}  // namespace stoker
