// Facts about a JPEG file that libjpeg does not report, read from its markers. Nothing here throws.
#pragma once

#include <cstddef>

#include "stoker/base/bytes.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

/// Whether an end-of-image marker stands at `from` or later. Fast where it stands near the end, as it does in whole
/// files.
bool has_jpeg_end(Bytes encoded, std::size_t from);

/// Whether a scan whose bytes begin at `from` leads to an end-of-image marker past nothing but data and restart
/// markers, in whatever order these are: then nothing after its header makes libjpeg give up. Reads all of the scan.
bool leads_to_jpeg_end(Bytes encoded, std::size_t from);

/// From the first Exif segment before the pixels; 1 where there is none or it is damaged.
Orientation jpeg_orientation(Bytes encoded);

}  // namespace stoker
