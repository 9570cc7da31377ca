// Which bytes of a stored array a crop shows, before any of them are read.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/ops/array/array_place.h"

namespace stoker {

struct ByteRange {
  std::uint64_t begin = 0, end = 0;  // of the field

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// Adds the ranges that the box lies in: one, or several where at least `gap` bytes between two of them are not needed.
/// Each row (the output's last axis) lies within one range. Nothing for an empty box.
void add_array_ranges(const ArrayBox& box, const ArrayLayout& stored, std::uint64_t gap,
                      std::vector<ByteRange>& ranges);

/// Puts them in order, and makes one of those that are less than `gap` apart.
void join_ranges(std::vector<ByteRange>& ranges, std::uint64_t gap);

}  // namespace stoker
