// The bytes after 0xFF that begin the parts of a JPEG file (ITU-T T.81, table B.1).
#pragma once

#include <cstdint>

namespace stoker {

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

}  // namespace stoker
