// Which parts of images stored raw a sample's crops need: the rest is neither read nor checked.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/format/sample_row.h"
#include "stoker/ops/taps.h"
#include "stoker/plan/plan.h"

namespace stoker {

/// Chunks first .. end - 1 of a field, and its first one, which has the header. None: the whole field.
struct WantedChunks {
  std::uint32_t first = 0, end = 0;

  bool whole() const { return end == 0; }
};

class RawWindows {
 public:
  RawWindows() = default;
  /// The plan must outlive it.
  explicit RawWindows(const Plan& plan);

  /// Of the plan's field `number`, which is `field` of this sample. Only an index knows enough for less than all. For
  /// one thread at a time.
  WantedChunks chunks(std::size_t number, const SampleRow& row, const SampleField& field, const SampleDraw& draw) const;

 private:
  const Plan* plan_ = nullptr;
  std::vector<bool> images_alone_;  // by field: all views of it are images
  mutable AxisTaps rows_;           // memory used again
};

/// Throws kBadSample if what is wanted of the field is not what it was when the index was made; `bytes` has all of it,
/// or what is wanted in its place.
void check_wanted(const SampleRow& row, const SampleField& field, WantedChunks wanted, Bytes bytes);

}  // namespace stoker
