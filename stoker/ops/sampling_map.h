// The composition of a chain of geometry operators for one sample: a single resampling, axis by axis. Crop, resize,
// flip and pad only change these numbers; pixels move once, in the kernel (or in the reference executor).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "stoker/tensor/image.h"
#include "stoker/tensor/orientation.h"

namespace stoker {

enum class Filter : std::uint8_t { kNearest, kBox, kBilinear, kBicubic };

std::string_view to_string(Filter filter);
Filter parse_filter(std::string_view name);  // throws kUsage

/// One axis. Output o of `length` shows column window_begin + (flip ? length - 1 - o : o) of a virtual target image of
/// `target` columns. Columns outside 0 .. target - 1 are padding, and so are those that a crop dropped, if a later
/// operator pads where they were. No tap reaches outside the source columns
/// clamp_begin .. clamp_end - 1 (the crop). They are read from left to right, or from right to left if
/// `source_mirrored`; the target covers the interval [box_begin, box_begin + box_length) of them, counted as they are
/// read. Mirroring before a resize and after it differ: filters break ties to one side.
/// The place on a grid so fine that pixels and floats do not show it. Ways of computing a place that differ in their
/// last bits agree on it there, and so on what a border cuts off.
double on_grid(double place);

struct AxisMap {
  int clamp_begin = 0, clamp_end = 0;
  double box_begin = 0, box_length = 0;
  int target = 0;
  bool resampled = false;        // false: the target is the clamped source itself, pixel for pixel
  bool source_mirrored = false;  // mirrored before the resize
  int window_begin = 0, length = 0;
  bool flip = false;                          // mirrored after it
  int dropped_before = 0, dropped_after = 0;  // columns at the target's ends that crops dropped

  /// The whole of a source of `size` columns, as it is.
  static AxisMap identity(int size);

  /// Where a place of the source is seen, on the output or beyond it. Places are between columns: 0 is the left edge.
  double output_at(double place) const;
  /// Keep outputs begin .. begin + new_length - 1 of the present ones; beyond them lies padding.
  void crop(int begin, int new_length);
  void mirror() { flip = !flip; }
  /// What is seen is the source mirrored.
  bool mirrored() const { return flip != source_mirrored; }
  /// The target's columns image_begin() .. image_end() - 1 are shown and are not padding; there may be none.
  int image_begin() const { return std::clamp(dropped_before, window_begin, window_begin + length); }
  int image_end() const { return std::clamp(target - dropped_after, image_begin(), window_begin + length); }
  /// The same columns as outputs, which do not include image_shown_end().
  int image_shown_begin() const { return flip ? window_begin + length - image_end() : image_begin() - window_begin; }
  int image_shown_end() const { return flip ? window_begin + length - image_begin() : image_end() - window_begin; }
  bool shows_padding() const { return image_begin() > window_begin || image_end() < window_begin + length; }
  /// The same map of a source of `size` columns that is mirrored.
  AxisMap of_mirrored_source(int size) const;
  /// Stretch what is now shown, which must not be padding, to new_length outputs.
  void resize(int new_length);

 private:
  void read_mirrored();
};

/// A part of the plane, from its upper left corner: between pixels.
struct Area {
  double left = 0, top = 0, right = 0, bottom = 0;
};

// What is so for every image is refused when a recipe is made. Else it depends on the image, whose sample is then bad.
constexpr std::string_view kPaddingResized = "padding cannot be resized; put resize before the operator that pads";
constexpr std::string_view kColorsOfPadding = "two operators pad with different colours; give both the same fill";

struct SamplingMap {
  AxisMap x, y;
  Filter filter = Filter::kBilinear;   // of the last resize; of one to the size that is there, where no other was
  bool is_resized = false;             // by an operator: a map may be resampled for the group that its image belongs to
  std::array<std::uint8_t, 3> fill{};  // the colour of padding

  /// Cuts both axes to a window that may reach beyond what is shown, into padding of this colour. Throws kBadSample if
  /// it does, and padding of another colour is already there.
  void crop_or_pad(Rect window, const std::array<std::uint8_t, 3>& color);
  /// Stretches what is shown to this size; what has it already stays as it is, but for a filter that is still open.
  /// Throws kBadSample if padding is shown, and kLimit when next to nothing of the source is left.
  void resize(int new_width, int new_height, Filter new_filter);

  static SamplingMap identity(int width, int height) {
    SamplingMap map;
    map.x = AxisMap::identity(width);
    map.y = AxisMap::identity(height);
    return map;
  }
  int width() const { return x.length; }
  int height() const { return y.length; }
  /// What is shown and is not padding.
  Area image_shown() const {
    return {static_cast<double>(x.image_shown_begin()), static_cast<double>(y.image_shown_begin()),
            static_cast<double>(x.image_shown_end()), static_cast<double>(y.image_shown_end())};
  }

  /// The largest of 8, 4, 2 and 1 that the target can be multiplied with, on both axes, and still not exceed its box:
  /// what an image may be shrunk by before it is resampled.
  int shrink() const;

  /// The same map of the image as it is stored (`width` x `height`), where this one is of it turned upright; its result
  /// is to be turned with `turn.transpose` alone.
  SamplingMap stored(const Turn& turn, int stored_width, int stored_height) const;
};

}  // namespace stoker
