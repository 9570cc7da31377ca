// The one Exif field that changes how pixels are read: the orientation. Nothing here throws; no read leaves the bytes.
#pragma once

#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

/// Whether the bytes open with "Exif" and two zeros, as a JPEG's Exif segment does.
bool starts_as_exif(Bytes bytes);

/// The orientation in an Exif block (with or without that opening); 1 where it has none or makes no sense.
Orientation exif_orientation(Bytes exif);

inline constexpr int kExifOpeningBytes = 6;

/// A block, with its opening, that says the orientation and nothing else.
std::vector<std::uint8_t> make_exif(Orientation orientation);

}  // namespace stoker
