// What was read of a field that holds an array: all of it, or the parts that its crops need, one after another.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <iterator>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/tensor/array_layout.h"

namespace stoker {

/// Bytes begin .. end - 1 of a field, and where they lie in what was read.
struct FieldPart {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t at = 0;
};

struct FieldWindow {
  std::vector<FieldPart> parts{};  // in order; none: all of the field was read
  ArrayLayout layout{};            // of its array, if there are parts

  bool whole() const { return parts.empty(); }
  void clear() { parts.clear(); }

  /// What was read.
  std::uint64_t bytes() const { return parts.back().at + (parts.back().end - parts.back().begin); }
  /// Where a byte of one of the parts lies in it.
  std::uint64_t place_of(std::uint64_t byte) const {
    const auto after = std::upper_bound(parts.begin(), parts.end(), byte,
                                        [](std::uint64_t place, const FieldPart& part) { return place < part.begin; });
    assert(after != parts.begin() && byte < std::prev(after)->end);
    return std::prev(after)->at + (byte - std::prev(after)->begin);
  }
  /// Bytes of the field that are within one part.
  const std::uint8_t* at(Bytes read, std::uint64_t begin, [[maybe_unused]] std::uint64_t count) const {
    const std::uint64_t place = whole() ? begin : place_of(begin);
    assert(count <= read.size() && place <= read.size() - count);
    return read.data() + place;
  }
};

}  // namespace stoker
