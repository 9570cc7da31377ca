// How Exif's eight orientations turn a stored image upright, of which no pixel moves: views and windows do.
#pragma once

#include "stoker/tensor/image.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

/// Mirror columns and rows as stored, then swap columns with rows.
struct Turn {
  bool mirror_columns = false, mirror_rows = false, transpose = false;
};

Turn turn_of(Orientation orientation);

/// The view turned upright, by strides alone.
ImageView oriented(ImageView view, Orientation orientation);
/// Where a window of the upright image lies in the image as stored (`width` x `height` as stored).
Rect stored_window(Rect upright, int width, int height, Orientation orientation);

}  // namespace stoker
