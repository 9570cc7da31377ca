#include "stoker/plan/array_ranges.h"

#include <algorithm>

namespace stoker {
namespace {

// More reads of one field would cost more than they save.
constexpr std::uint64_t kRangesMax = 1024;

class RangesOfBox {
 public:
  RangesOfBox(const ArrayBox& box, const ArrayLayout& stored, std::uint64_t gap, std::vector<ByteRange>& ranges)
      : box_(box), item_(stored.item_bytes()), gap_(gap), ranges_(ranges) {}

  void add_whole(std::uint64_t from) { add_range(0, from); }

  /// Of one place along each of the axes before `axis`, the last of which are at `from`.
  void add(std::size_t axis, std::uint64_t from, std::uint64_t count) {
    if (axis + 1 >= box_.rank) return add_range(axis, from);
    const ArrayAxis& here = box_.axes[axis];
    const std::uint64_t places = static_cast<std::uint64_t>(here.count);
    const std::uint64_t begin = from + static_cast<std::uint64_t>(here.begin) * here.stride;
    // Farther in, gaps are no larger.
    const bool is_apart = places == 1 || here.stride >= span(axis + 1) + gap_;
    if (!is_apart || count * places > kRangesMax) return add_range(axis, from);
    for (std::uint64_t i = 0; i < places; ++i) add(axis + 1, begin + i * here.stride, count * places);
  }

 private:
  // From the first number to behind the last one, of these axes.
  std::uint64_t span(std::size_t axis) const {
    std::uint64_t bytes = item_;
    for (; axis < box_.rank; ++axis) {
      bytes += static_cast<std::uint64_t>(box_.axes[axis].count - 1) * box_.axes[axis].stride;
    }
    return bytes;
  }
  void add_range(std::size_t axis, std::uint64_t from) {
    const std::uint64_t bytes = span(axis);
    for (; axis < box_.rank; ++axis) from += static_cast<std::uint64_t>(box_.axes[axis].begin) * box_.axes[axis].stride;
    ranges_.push_back({from, from + bytes});
  }

  const ArrayBox& box_;
  const std::uint64_t item_, gap_;
  std::vector<ByteRange>& ranges_;
};

}  // namespace

void add_array_ranges(const ArrayBox& box, const ArrayLayout& stored, std::uint64_t gap,
                      std::vector<ByteRange>& ranges) {
  if (box.is_empty()) return;
  RangesOfBox of_box(box, stored, gap, ranges);
  // Column by column, rows are spread over all that lies between their ends.
  stored.is_column_major ? of_box.add_whole(stored.offset) : of_box.add(0, stored.offset, 1);
}

void join_ranges(std::vector<ByteRange>& ranges, std::uint64_t gap) {
  if (ranges.empty()) return;
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin < ranges[last].end + gap) {
      ranges[last].end = std::max(ranges[last].end, ranges[i].end);
    } else {
      ranges[++last] = ranges[i];
    }
  }
  ranges.resize(last + 1);
}

}  // namespace stoker
