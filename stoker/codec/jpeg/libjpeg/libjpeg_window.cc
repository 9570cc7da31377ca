#include "stoker/codec/jpeg/libjpeg/libjpeg_window.h"

#include <algorithm>

namespace stoker {
namespace {

// Narrower regions are widened to this: below two chroma samples libjpeg replaces its upsampling by a simpler one, as
// it does for images of a few columns, and a narrow part of a wide image must not run into that.
constexpr int kColumnsMin = 32;

// Fancy horizontal upsampling makes luma columns 2m and 2m + 1 of chroma samples m - 1, m and m + 1. What is cropped
// away is missing on the left if the window begins at an even column, and on the right if it ends with an odd one.
constexpr int kColumnsBefore = 1, kColumnsAfter = 1;

struct Factors {
  int horizontal, vertical;
  friend bool operator==(const Factors&, const Factors&) = default;
};

// Components either as fine as the image or one sample per MCU: 4:4:4, 4:2:2, 4:2:0, 4:4:0, 4:1:1, grey, and more. For
// these, tests prove every window. In other mixtures the components differ in how far their upsampling looks; they are
// rare enough to be decoded from the top, in full width.
bool usual_sampling(const jpeg_decompress_struct& jpeg) {
  const Factors largest{jpeg.max_h_samp_factor, jpeg.max_v_samp_factor};
  return std::all_of(jpeg.comp_info, jpeg.comp_info + jpeg.num_components, [&](const jpeg_component_info& component) {
    const Factors own{component.h_samp_factor, component.v_samp_factor};
    return own == largest || own == Factors{1, 1};
  });
}

// A progressive file that lacks scans is smoothed across block borders, at the edges of a cropped region too.
bool lacks_scans(const jpeg_decompress_struct& jpeg) {
  if (!jpeg.progressive_mode || !jpeg.coef_bits) return false;
  for (int component = 0; component < jpeg.num_components; ++component) {
    const int* const bits_missing = jpeg.coef_bits[component];
    if (std::any_of(bits_missing, bits_missing + DCTSIZE2, [](int bits) { return bits != 0; })) return true;
  }
  return false;
}

}  // namespace

LibjpegWindow plan_libjpeg_window(const jpeg_decompress_struct& jpeg, Rect window) {
  const int width = static_cast<int>(jpeg.image_width);
  if (!usual_sampling(jpeg) || lacks_scans(jpeg)) {
    return {.left = 0, .columns = width, .rows_skipped = 0, .rows_discarded = window.y};
  }
  const bool fancy = jpeg.max_h_samp_factor == 2;
  // One skip, from row 0: libjpeg-turbo goes wrong where a skip begins inside a row group (its issue 915).
  int left = std::max(0, window.x - (fancy ? kColumnsBefore : 0));
  const int right = std::min(width, window.x + window.width + (fancy ? kColumnsAfter : 0));
  left = std::max(0, std::min(left, right - kColumnsMin));
  return {.left = left,
          .columns = std::min(width, std::max(right, left + kColumnsMin)) - left,
          .rows_skipped = window.y,
          .rows_discarded = 0};
}

}  // namespace stoker
