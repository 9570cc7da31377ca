// The places where decoding of a JPEG's scan may begin: the start of each segment of MCUs. Kept in the index, they let
// a decoder read only what a crop needs, and many segments at once; docs/jpeg.md shows how.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/codec/jpeg/segment_layout.h"

namespace stoker {

/// Segments begin at the first MCU of a row, at every eighth after it, and after each restart marker. Says how many
/// MCUs the one has that begins at (column, row).
class SegmentGrid {
 public:
  SegmentGrid(const McuGrid& grid, int restart_interval) : across_(grid.across), interval_(restart_interval) {}

  int mcus(int column, int row) const {
    int count = kSegmentMcus - column % kSegmentMcus;
    if (count > across_ - column) count = across_ - column;
    if (interval_ > 0) {
      const auto into = static_cast<int>((std::int64_t{row} * across_ + column) % interval_);
      if (count > interval_ - into) count = interval_ - into;
    }
    return count;
  }

  /// Segments of the first `rows` rows of MCUs.
  std::size_t count(int rows) const {
    std::size_t segments = 0;
    for (int row = 0; row < (interval_ > 0 ? rows : 1); ++row) {
      for (int column = 0; column < across_; column += mcus(column, row)) ++segments;
    }
    return interval_ > 0 ? segments : segments * static_cast<std::size_t>(rows);
  }

 private:
  int across_, interval_;
};

struct EntryPoint {
  std::uint64_t bit = 0;             // of the segment's first, counted from the scan's first
  std::array<std::int16_t, 3> dc{};  // of each component's block before
};

/// Those of all segments in their order.
using EntryPoints = std::vector<EntryPoint>;

/// How many a file with this header has.
std::size_t entry_point_count(const JpegHeader& header);

/// As an index keeps them (docs/format-index.md), for a file of so many bytes. Nothing is appended where there are too
/// many for that.
void pack_entry_points(const EntryPoints& points, std::size_t encoded_bytes, std::vector<std::uint8_t>& into);

/// The inverse; false for bytes that are not those of a file of so many bytes, with so many entry points. Takes no
/// memory for more than these, whatever the bytes say.
bool unpack_entry_points(Bytes packed, std::size_t encoded_bytes, std::size_t count, EntryPoints& points);

}  // namespace stoker
