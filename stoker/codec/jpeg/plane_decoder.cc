#include "stoker/codec/jpeg/plane_decoder.h"

#include <algorithm>
#include <numeric>

namespace stoker {
namespace {

using End = JpegSegment::End;

// Whether the restart marker that begins interval `number` stands right before `first`, which lies after a header.
bool follows_restart(const std::uint8_t* first, std::int64_t number) {
  return first[-2] == 0xFF && first[-1] == 0xD0 + (number - 1) % 8;
}

// Copies segments' bytes out of a file, each by itself, as entry points say where they are. These may lie.
class SegmentCopies {
 public:
  /// `to` has room for all of the scan, a byte more for each segment, and kScanSlack.
  SegmentCopies(Bytes scan, int restart_interval, const EntryPoints& points, std::uint8_t* to)
      : scan_(scan), interval_(restart_interval), points_(points), bytes_(to), to_(to) {}

  /// Segment `number`, whose first MCU is `mcu`, of so many. Nothing if it cannot be there. In ascending order.
  std::optional<JpegSegment> copy(std::size_t number, std::int64_t mcu, int mcus) {
    const EntryPoint& begin = points_[number];
    const bool last = number + 1 == points_.size();
    const std::uint64_t all_bits = std::uint64_t{8} * scan_.size();
    const std::uint64_t end_bit = last ? all_bits : points_[number + 1].bit;
    if (begin.bit < reached_ || begin.bit >= end_bit || end_bit > all_bits || !may_begin(begin.bit, mcu)) return {};
    reached_ = end_bit;

    const std::uint8_t* end = scan_.data() + (end_bit + 7) / 8;
    if (end[-1] == 0xFF && end < scan_.data() + scan_.size()) ++end;  // with the zero that belongs to it
    const UnstuffedEnd copied = unstuff(scan_.data() + begin.bit / 8, end, to_);
    const bool to_marker = last || restarts(mcu + mcus);
    if (!to_marker && copied.from != end) return {};
    if (to_marker && !last && end - copied.from != 2) return {};  // the marker, and the next segment
    JpegSegment segment{.bit = std::uint64_t{8} * static_cast<std::uint64_t>(to_ - bytes_) + begin.bit % 8,
                        .end_bit = std::uint64_t{8} * static_cast<std::uint64_t>(copied.to - bytes_),
                        .end = to_marker ? End::kWithinByte : End::kExact};
    if (mcu > 0 && !restarts(mcu)) segment.dc = begin.dc;
    if (!to_marker) {
      if (end_bit % 8 != 0) segment.end_bit -= 8 - end_bit % 8;
      segment.end_dc = points_[number + 1].dc;
    }
    to_ = copied.to;
    return segment;
  }

  /// Bytes of all copies so far.
  std::size_t size() const { return static_cast<std::size_t>(to_ - bytes_); }

 private:
  bool restarts(std::int64_t mcu) const { return interval_ > 0 && mcu % interval_ == 0; }

  bool may_begin(std::uint64_t bit, std::int64_t mcu) const {
    if (mcu == 0) return bit == 0;
    const std::uint8_t* const first = scan_.data() + bit / 8;
    if (restarts(mcu)) return bit % 8 == 0 && follows_restart(first, mcu / interval_);
    return first[-1] != 0xFF;  // the zero that belongs to it is not a place to begin
  }

  const Bytes scan_;
  const int interval_;
  const EntryPoints& points_;
  std::uint8_t* const bytes_;
  std::uint8_t* to_;
  std::uint64_t reached_ = 0;  // bits of the file
};

}  // namespace

/// The MCUs that hold what a window needs.
struct JpegPlaneDecoder::McuWindow {
  int left, right, top, bottom;

  McuWindow(const McuGrid& grid, Rect window) {
    const int x = grid.mcu_width > 8 ? kPixelsBeside : 0, y = grid.mcu_height > 8 ? kPixelsBeside : 0;
    left = std::max(0, window.x - x) / grid.mcu_width;
    right = std::min(grid.across, divide_up(window.x + window.width + x, grid.mcu_width));
    top = std::max(0, window.y - y) / grid.mcu_height;
    bottom = std::min(grid.down, divide_up(window.y + window.height + y, grid.mcu_height));
  }
};

bool JpegPlaneDecoder::find_entry_points(Bytes encoded, const JpegHeader& header, EntryPoints& points) {
  const McuGrid grid(header);
  tables_.build(header);
  scan_.read(encoded, header.scan_begin, header.restart_interval > 0);
  if (!scan_.ends_image() || !walker_.walk(header, grid, tables_, scan_, grid.down, points)) return false;
  StuffedPlace place(encoded, header.scan_begin);
  points.pop_back();  // of the end
  for (EntryPoint& point : points) {
    const std::size_t byte = place.find(static_cast<std::uint32_t>(point.bit / 8)) - header.scan_begin;
    point.bit = std::uint64_t{8} * byte + point.bit % 8;
  }
  return true;
}

std::optional<JpegWindow> JpegPlaneDecoder::find_window(Bytes encoded, const JpegHeader& header, Rect window,
                                                        const EntryPoints& points, int shrink) {
  const McuGrid grid(header);
  const McuWindow mcus(grid, window);
  if (!list_from_file(encoded, header, grid, mcus, points) || unstuffed_bytes_ > kWindowBytesMax) return std::nullopt;
  JpegWindow found = laid_out(header, mcus, shrink);
  found.data = {bytes_.bytes(0), unstuffed_bytes_};
  found.segments = segments_;
  return found;
}

std::optional<Planes> JpegPlaneDecoder::decode(Bytes encoded, const JpegHeader& header, Rect window,
                                               const EntryPoints* points, int shrink) {
  const McuGrid grid(header);
  const McuWindow mcus(grid, window);
  tables_.build(header);
  SegmentWork work;
  if (points) {
    if (!list_from_file(encoded, header, grid, mcus, *points)) return std::nullopt;
    work.data = bytes_.bytes(0);  // where they were copied to
  } else {
    scan_.read(encoded, header.scan_begin, header.restart_interval > 0);
    // What comes before the end may be what makes the file bad, also where the window needs nothing of it.
    if (!scan_.ends_image()) return std::nullopt;
    if (!walker_.walk(header, grid, tables_, scan_, mcus.bottom, walked_)) return std::nullopt;
    list_from_scan(header, grid, mcus);
    work.data = scan_.data();
  }
  const auto layout =
      std::find_if(layouts_.begin(), layouts_.end(), [&](const SegmentLayout& known) { return known.fits(header); });
  work.layout = layout != layouts_.end() ? &*layout : &layouts_.emplace_back(header);
  work.tables = &tables_;
  JpegWindow found = laid_out(header, mcus, shrink);
  make_targets(header, found, work);
  if (!decoder_.decode(work, segments_)) return std::nullopt;
  return found.planes;
}

// The window's segments, as the walk found them.
void JpegPlaneDecoder::list_from_scan(const JpegHeader& header, const McuGrid& grid, const McuWindow& window) {
  segments_.clear();
  const SegmentGrid all(grid, header.restart_interval);
  std::size_t number = 0;
  for (int row = 0; row < window.bottom; ++row) {
    for (int column = 0, mcus = 0; column < grid.across; column += mcus, ++number) {
      mcus = all.mcus(column, row);
      if (row < window.top || column + mcus <= window.left || column >= window.right) continue;
      const EntryPoint &begin = walked_[number], &end = walked_[number + 1];
      segments_.push_back({.bit = begin.bit,
                           .end_bit = end.bit,
                           .dc = begin.dc,
                           .end_dc = end.dc,
                           .column = column,
                           .row = row,
                           .mcus = std::min(mcus, window.right - column),
                           .end = End::kBefore});
    }
  }
}

// The window's segments by entry points of the file.
bool JpegPlaneDecoder::list_from_file(Bytes encoded, const JpegHeader& header, const McuGrid& grid,
                                      const McuWindow& window, const EntryPoints& points) {
  segments_.clear();
  const SegmentGrid all(grid, header.restart_interval);
  if (points.size() != all.count(grid.down)) return false;
  const Bytes scan = encoded.subspan(header.scan_begin);
  // Neighbours share a byte at most.
  SegmentCopies copies(scan, header.restart_interval, points, bytes_.bytes(scan.size() + points.size() + kScanSlack));
  std::size_t number = 0;
  std::int64_t mcu = 0;  // the segment's first
  for (int row = 0; row < window.bottom; ++row) {
    for (int column = 0, mcus = 0; column < grid.across; column += mcus, mcu += mcus, ++number) {
      mcus = all.mcus(column, row);
      if (row < window.top || column + mcus <= window.left || column >= window.right) continue;
      std::optional<JpegSegment> segment = copies.copy(number, mcu, mcus);
      if (!segment) return false;
      segment->column = column;
      segment->row = row;
      segment->mcus = std::min(mcus, window.right - column);
      if (segment->mcus < mcus) segment->end = End::kBefore;
      segments_.push_back(*segment);
    }
  }
  unstuffed_bytes_ = copies.size();
  return true;
}

// How the window's blocks appear as planes: without the samples that only fill up blocks.
JpegWindow JpegPlaneDecoder::laid_out(const JpegHeader& header, const McuWindow& mcus, int shrink) {
  JpegWindow window{.header = &header,
                    .planes = shrunk(header.plane_sizes(), header.width, header.height, shrink),
                    .data = {},
                    .segments = {}};
  window.first_column = mcus.left;
  window.first_row = mcus.top;
  window.columns = mcus.right - mcus.left;
  window.rows = mcus.bottom - mcus.top;
  for (std::size_t c = 0; c < static_cast<std::size_t>(header.component_count); ++c) {
    const JpegComponent& component = header.components[c];
    Plane& plane = window.planes.plane[c];
    const int side = window.side[c] = 8 * header.across_max() / component.across / plane.across;
    const int columns = window.columns * component.across * side, rows = window.rows * component.down * side;
    std::ptrdiff_t stride = divide_up(columns + static_cast<int>(kPlaneSlack), 64) * 64;
    if (stride % 4096 == 0) stride += 64;  // or all rows would compete for the same lines of the cache
    window.plane_bytes[c] = static_cast<std::size_t>(stride) * static_cast<std::size_t>(rows) + kPlaneSlack;
    plane.x = mcus.left * component.across * side;
    plane.y = mcus.top * component.down * side;
    plane.width = std::min(columns, plane.whole_width - plane.x);
    plane.height = std::min(rows, plane.whole_height - plane.y);
    plane.row_stride = stride;
  }
  return window;
}

// Memory for the window's blocks.
void JpegPlaneDecoder::make_targets(const JpegHeader& header, JpegWindow& window, SegmentWork& work) {
  std::uint8_t* samples =
      samples_.bytes(std::accumulate(window.plane_bytes.begin(), window.plane_bytes.end(), std::size_t{0}));
  for (std::size_t c = 0; c < static_cast<std::size_t>(header.component_count); ++c) {
    const QuantizationTable& table = header.quantization[static_cast<std::size_t>(header.components[c].quantization)];
    std::copy(table.begin(), table.end(), quantization_[c].values);
    window.planes.plane[c].samples = samples;
    work.targets[c] = {samples, window.planes.plane[c].row_stride, quantization_[c].values, window.side[c]};
    samples += window.plane_bytes[c];
  }
  work.first_column = window.first_column;
  work.first_row = window.first_row;
}

}  // namespace stoker
