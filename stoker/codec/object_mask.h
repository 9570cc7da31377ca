// The mask of one object, as COCO writes it: outlines, or runs of 0 and 1 down the columns. It is kept as the rows that
// it covers in each column, so that memory depends on its outline, and not on the pixels of the image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace stoker {

/// The lengths that pycocotools has written as this text. Throws kBadSample for a text that is not one of its.
std::vector<std::int64_t> decode_runs(std::string_view text);

/// One object at a time: start(), what it consists of, finish(); before the first one of a sample start_sample(). Keeps
/// its memory; one per thread.
class ObjectMask {
 public:
  /// Rows begin .. end - 1 of a column.
  struct Run {
    std::int32_t column, begin, end;
  };
  /// How often the outlines of an object may cross the middles of the image's columns.
  static constexpr std::size_t kCrossingsMax = std::size_t{1} << 22;
  /// The same of all objects of a sample, where each column that a run lies in counts, too.
  static constexpr std::size_t kCrossingsOfSampleMax = std::size_t{1} << 24;
  /// Corners may lie outside of the image, but no farther from its origin than this.
  static constexpr double kPlaceMax = 1e6;

  void start_sample() { crossings_of_sample_ = 0; }
  /// Nothing yet, of an image of this size.
  void start(int width, int height);
  /// What an outline with these corners (x, y, x, y, ...) encloses: the pixels that pycocotools takes. With fewer than
  /// three corners it encloses none. Throws kBadSample for an odd number of numbers, and beyond the limits above.
  void add_outline(std::span<const double> corners);
  /// Pixels of all columns, the first one first: so many that are 0, so many that are 1, and so on. Throws kBadSample
  /// unless they are as many as the image has, and beyond the limits above.
  void add_runs(std::span<const std::int64_t> lengths);
  /// The same, as decode_runs() reads them.
  void add_coded_runs(std::string_view text) { add_runs(decode_runs(text)); }
  /// What was added is one mask now, whatever overlaps.
  void finish();

  int width() const { return width_; }
  int height() const { return height_; }
  /// Those of a column, ascending and apart from each other.
  std::span<const Run> column(int x) const {
    const auto at = static_cast<std::size_t>(x);
    return {runs_.data() + first_[at], first_[at + 1] - first_[at]};
  }

 private:
  struct Corner {
    int x, y;  // in parts of a pixel
  };
  struct Crossing {
    std::int32_t column, row;
  };

  static Corner corner(double x, double y);
  void cross(Corner from, Corner to);
  void count_of_sample(std::size_t crossings);
  void add_rows(std::int64_t begin, std::int64_t end);
  void put_in_order();

  int width_ = 0, height_ = 0;
  std::size_t crossings_so_far_ = 0, crossings_of_sample_ = 0;
  std::vector<Run> runs_;
  std::vector<std::size_t> first_;  // of each column's runs, and the end of all
  std::vector<Crossing> crossings_;
};

}  // namespace stoker
