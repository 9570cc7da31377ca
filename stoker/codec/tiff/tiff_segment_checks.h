// What must hold of a TIFF's segments before one of them is decoded, so that a small file cannot take much memory or
// time.
#pragma once

#include "stoker/codec/tiff/tiff_file.h"

namespace stoker {

/// Throws kBadSample if a segment leaves the file, if segments lie on each other to be decoded again and again, or if
/// the JPEG or Zstandard data in one would take more memory than its pixels justify. Notes what the JPEG data are like.
void check_tiff_segments(TiffImage& image);

}  // namespace stoker
