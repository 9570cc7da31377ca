// The markers of a JPEG file, and facts read from them that libjpeg does not report. Nothing here throws.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/base/bytes.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

/// The bytes after 0xFF that begin the parts of a file (ITU-T T.81, table B.1).
enum JpegMarker : std::uint8_t {
  kBaselineFrame = 0xC0,
  kExtendedFrame = 0xC1,
  kHuffmanCodes = 0xC4,
  kRestart0 = 0xD0,
  kRestart7 = 0xD7,
  kStartOfImage = 0xD8,
  kEndOfImage = 0xD9,
  kStartOfScan = 0xDA,
  kQuantizationTables = 0xDB,
  kRestartInterval = 0xDD,
  kApp0 = 0xE0,
  kApp1 = 0xE1,
  kApp14 = 0xEE,
  kApp15 = 0xEF,
  kComment = 0xFE,
};

/// Whether an end-of-image marker stands at `from` or later. Fast where it stands near the end, as it does in whole
/// files.
bool has_jpeg_end(Bytes encoded, std::size_t from);

/// Whether a scan whose bytes begin at `from` leads to an end-of-image marker past nothing but data and restart
/// markers, in whatever order these are: then nothing after its header makes libjpeg give up. Reads all of the scan.
bool leads_to_jpeg_end(Bytes encoded, std::size_t from);

/// From the first Exif segment before the pixels; 1 where there is none or it is damaged.
Orientation jpeg_orientation(Bytes encoded);

}  // namespace stoker
