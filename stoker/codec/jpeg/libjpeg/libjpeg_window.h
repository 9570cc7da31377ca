// Which part of a JPEG must be decoded so that a window of it has the same bits as in the whole image.
#pragma once

#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include "stoker/tensor/image.h"

namespace stoker {

/// Skip `rows_skipped` rows, decode and forget `rows_discarded`, then decode the window's; of each row, `columns` from
/// `left`, which jpeg_crop_scanline moves further left, to where a block begins.
struct LibjpegWindow {
  int left = 0, columns = 0;
  int rows_skipped = 0, rows_discarded = 0;
};

/// For an image on which jpeg_start_decompress has been called, decoded with fancy upsampling.
LibjpegWindow plan_libjpeg_window(const jpeg_decompress_struct& jpeg, Rect window);

}  // namespace stoker
