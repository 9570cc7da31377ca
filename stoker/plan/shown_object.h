// Which pixels of the picture that a sampling map makes show an object: the nearest ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "stoker/codec/object_mask.h"
#include "stoker/ops/geometry.h"
#include "stoker/ops/taps.h"

namespace stoker {

/// Which outputs of an axis show the source's rows begin .. end - 1. Those that show any follow each other, and their
/// rows ascend, or descend where the axis is mirrored. The taps must outlive it.
class ShownRows {
 public:
  explicit ShownRows(const AxisTaps& taps) : all_(taps.first.begin()) {
    begin_ = std::find_if(all_, taps.first.end(), [](std::int32_t row) { return row >= 0; });
    end_ = std::find_if(begin_, taps.first.end(), [](std::int32_t row) { return row < 0; });
    descends_ = begin_ != end_ && *begin_ > *(end_ - 1);
  }

  struct Range {
    std::ptrdiff_t begin, end;
  };
  Range outputs(std::int32_t begin, std::int32_t end) const {
    return descends_ ? Range{first_below(end), first_below(begin)} : Range{first_from(begin), first_from(end)};
  }

 private:
  using At = std::vector<std::int32_t>::const_iterator;

  std::ptrdiff_t first_from(std::int32_t row) const { return std::lower_bound(begin_, end_, row) - all_; }
  std::ptrdiff_t first_below(std::int32_t row) const {
    return std::lower_bound(begin_, end_, row, std::greater_equal<>()) - all_;
  }

  At all_, begin_, end_;
  bool descends_;
};

/// Calls `see` with the index of each such pixel. `columns` and `rows` are the taps of the map by the nearest pixel.
template <typename See>
void for_each_pixel_of(const ObjectMask& object, const AxisTaps& columns, const AxisTaps& rows, const See& see) {
  const ShownRows shown(rows);
  for (std::size_t x = 0; x < columns.first.size(); ++x) {
    if (columns.first[x] < 0) continue;
    for (const ObjectMask::Run& run : object.column(columns.first[x])) {
      const auto [begin, end] = shown.outputs(run.begin, run.end);
      for (std::ptrdiff_t y = begin; y < end; ++y) see(static_cast<std::size_t>(y) * columns.first.size() + x);
    }
  }
}

}  // namespace stoker
