#include "stoker/codec/jpeg/markers.h"

#include <cstring>

#include "stoker/codec/exif.h"

namespace stoker {
namespace {

constexpr std::uint8_t kMarker = 0xFF;

// Markers without a length after them.
bool stands_alone(std::uint8_t marker) { return marker == 0x01 || (marker >= 0xD0 && marker <= kEndOfImage); }

}  // namespace

bool has_jpeg_end(Bytes encoded, std::size_t from) {
  for (std::size_t i = encoded.size(); i-- > from + 1;) {
    if (encoded[i] == kEndOfImage && encoded[i - 1] == kMarker) return true;
  }
  return false;
}

bool leads_to_jpeg_end(Bytes encoded, std::size_t from) {
  const std::uint8_t* at = encoded.data() + from;
  const std::uint8_t* const end = encoded.data() + encoded.size();
  for (;;) {
    at = static_cast<const std::uint8_t*>(std::memchr(at, kMarker, static_cast<std::size_t>(end - at)));
    if (!at) return false;
    while (at < end && *at == kMarker) ++at;  // filling
    if (at == end) return false;
    const std::uint8_t marker = *at++;
    if (marker == kEndOfImage) return true;
    if (marker != 0 && (marker < kRestart0 || marker > kRestart7)) return false;
  }
}

Orientation jpeg_orientation(Bytes encoded) {
  std::size_t at = 0;
  while (encoded.size() - at >= 4) {
    if (encoded[at] != kMarker) return 1;
    const std::uint8_t marker = encoded[at + 1];
    if (marker == kMarker) {  // fill byte
      ++at;
      continue;
    }
    if (stands_alone(marker)) {
      at += 2;
      continue;
    }
    const std::size_t length = std::size_t{encoded[at + 2]} << 8 | encoded[at + 3];  // counts its own two bytes
    if (marker == kStartOfScan || length < 2 || length > encoded.size() - at - 2) return 1;
    const Bytes segment = encoded.subspan(at + 4, length - 2);
    if (marker == kApp1 && starts_as_exif(segment)) return exif_orientation(segment);
    at += 2 + length;
  }
  return 1;
}

}  // namespace stoker
