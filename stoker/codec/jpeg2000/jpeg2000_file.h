// What the boxes of a JP2 file and the headers of a JPEG 2000 codestream (ITU-T T.800) say, checked before openjpeg
// sees the codestream: a few bytes of header can ask for any amount of memory and time.
#pragma once

#include <array>
#include <cstdint>

#include "stoker/base/bytes.h"

namespace stoker {

enum class Jpeg2000Colors : std::uint8_t { kGrey, kRgb, kYcc, kCmyk, kPalette };

struct Jpeg2000Component {
  int bits = 8;
  bool is_signed = false;
  int across = 1, down = 1;  // pixels that share a sample
};

struct Jpeg2000Image {
  Bytes codestream;
  int width = 0, height = 0;
  int components = 0;
  std::array<Jpeg2000Component, 4> component;
  Jpeg2000Colors colors = Jpeg2000Colors::kGrey;
  std::array<std::array<std::uint8_t, 3>, 256> palette{};
  int palette_entries = 0;
};

bool has_jpeg2000_magic(Bytes encoded);

/// Throws kBadSample for a file that lacks parts of its tiles, is of a kind that is not read here, or is divided more
/// finely than its pixels justify.
Jpeg2000Image read_jpeg2000(Bytes encoded);

}  // namespace stoker
