// Where the pixels of a picture that went through an elastic field come from: what is no picture follows the field by
// them, since it has no inverse that could be written down.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "stoker/ops/picture/picture_step.h"
#include "stoker/ops/picture/warp_meaning.h"
#include "stoker/plan/course_pixels.h"
#include "stoker/tensor/image.h"

namespace stoker {

/// The places of the input that pixels of the output show, in a tree of squares of the output: what looks for places
/// passes over squares that have none of these. Keeps scratch memory.
class FieldPlaces {
 public:
  /// A square: the bounds of its places, from the upper left corner of the input, and of the pixels that have one.
  struct Square {
    double left = std::numeric_limits<double>::infinity(), top = left, right = -left, bottom = -left;
    int begin_x = std::numeric_limits<int>::max(), begin_y = begin_x, end_x = 0, end_y = 0;

    bool is_empty() const { return end_x == 0; }
    void add(const Square& other) {
      left = std::min(left, other.left), top = std::min(top, other.top);
      right = std::max(right, other.right), bottom = std::max(bottom, other.bottom);
      begin_x = std::min(begin_x, other.begin_x), begin_y = std::min(begin_y, other.begin_y);
      end_x = std::max(end_x, other.end_x), end_y = std::max(end_y, other.end_y);
    }
  };

  /// Of this step, until the next call.
  void find(const PictureStep& step, ImageSize in, ImageSize out) {
    find_places(step, in, out);
    for (levels_used_ = 0;;) {
      const bool is_first = levels_used_ == 0;
      const ImageSize finer = is_first ? out : levels_[levels_used_ - 1].size;
      const int side = is_first ? kSide : 2;
      if (levels_.size() == levels_used_) levels_.emplace_back();
      Level& level = levels_[levels_used_++];
      level.size = {(finer.width + side - 1) / side, (finer.height + side - 1) / side};
      level.squares.assign(pixels_of(level.size), Square());
      for (int y = 0; y < finer.height; ++y) {
        for (int x = 0; x < finer.width; ++x) {
          const Square part = is_first ? square_of(x, y) : levels_[levels_used_ - 2].squares[index_of(finer, x, y)];
          if (!part.is_empty()) level.squares[index_of(level.size, x / side, y / side)].add(part);
        }
      }
      if (pixels_of(level.size) <= 1) return;
    }
  }

  /// Calls `see` for pixels (x, y) of the output with the place of the input that each shows: for all that have one,
  /// except those in squares that `enters` says no to. In no particular order.
  template <typename Enters, typename See>
  void visit(const Enters& enters, const See& see) const {
    if (pixels_of(size_) > 0) visit(levels_used_ - 1, 0, 0, enters, see);
  }

 private:
  static constexpr int kSide = 8;  // of the smallest squares

  struct Level {
    ImageSize size;
    std::vector<Square> squares;
  };

  void find_places(const PictureStep& step, ImageSize in, ImageSize out) {
    PicturePass pass{};
    pass.steps = &step;
    pass.count = 1;
    pass.in_width = in.width;
    pass.in_height = in.height;
    size_ = out;
    places_.resize(pixels_of(out));
    for (int y = 0; y < out.height; ++y) {
      for (int x = 0; x < out.width; ++x) places_[index_of(out, x, y)] = elastic_place(pass, x, y);
    }
  }

  static double from_corner(std::int32_t place) { return static_cast<double>(place) / WarpPlace::kOne + 0.5; }

  /// Of one pixel.
  Square square_of(int x, int y) const {
    const WarpPlace place = places_[index_of(size_, x, y)];
    if (place.x == -WarpPlace::kOne || place.y == -WarpPlace::kOne) return {};
    const double from_x = from_corner(place.x), from_y = from_corner(place.y);
    return {from_x, from_y, from_x, from_y, x, y, x + 1, y + 1};
  }

  template <typename Enters, typename See>
  void visit(std::size_t number, int column, int row, const Enters& enters, const See& see) const {
    const Level& level = levels_[number];
    const Square& square = level.squares[index_of(level.size, column, row)];
    if (square.is_empty() || !enters(square)) return;
    const ImageSize finer = number == 0 ? size_ : levels_[number - 1].size;
    const int side = number == 0 ? kSide : 2;
    for (int y = row * side; y < std::min((row + 1) * side, finer.height); ++y) {
      for (int x = column * side; x < std::min((column + 1) * side, finer.width); ++x) {
        if (number > 0) {
          visit(number - 1, x, y, enters, see);
        } else if (const Square pixel = square_of(x, y); !pixel.is_empty()) {
          see(x, y, pixel.left, pixel.top);
        }
      }
    }
  }

  ImageSize size_{};
  std::vector<WarpPlace> places_;  // by pixel, row by row
  std::vector<Level> levels_;      // from the smallest squares on
  std::size_t levels_used_ = 0;
};

}  // namespace stoker
