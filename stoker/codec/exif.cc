#include "stoker/codec/exif.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace stoker {
namespace {

constexpr std::uint8_t kExifOpening[] = {'E', 'x', 'i', 'f', 0, 0};
constexpr std::size_t kEntryBytes = 12;
constexpr std::uint32_t kOrientationTag = 0x0112, kTypeShort = 3, kTypeLong = 4, kTypeSignedShort = 8,
                        kTypeSignedLong = 9;

// Integers of a TIFF block, whose first two letters tell the byte order.
class Tiff {
 public:
  explicit Tiff(Bytes bytes) : bytes_(bytes), big_endian_(bytes.size() >= 2 && bytes[0] == 'M') {}

  bool valid() const {
    if (bytes_.size() < 8 || bytes_[0] != bytes_[1] || (bytes_[0] != 'I' && bytes_[0] != 'M')) return false;
    return u16(2) == 42;
  }
  std::size_t size() const { return bytes_.size(); }
  std::uint32_t u16(std::size_t at) const {
    const std::uint32_t first = bytes_[at], second = bytes_[at + 1];
    return big_endian_ ? first << 8 | second : second << 8 | first;
  }
  std::uint32_t u32(std::size_t at) const {
    return big_endian_ ? u16(at) << 16 | u16(at + 2) : u16(at + 2) << 16 | u16(at);
  }

 private:
  Bytes bytes_;
  bool big_endian_;
};

}  // namespace

bool starts_as_exif(Bytes bytes) {
  return bytes.size() >= sizeof kExifOpening &&
         std::equal(std::begin(kExifOpening), std::end(kExifOpening), bytes.data());
}

Orientation exif_orientation(Bytes exif) {
  const Tiff tiff(starts_as_exif(exif) ? exif.subspan(sizeof kExifOpening) : exif);
  if (!tiff.valid()) return 1;
  const std::size_t directory = tiff.u32(4);
  if (directory > tiff.size() - 2) return 1;
  const std::size_t entries = std::min<std::size_t>(tiff.u16(directory), (tiff.size() - directory - 2) / kEntryBytes);
  Orientation orientation = 1;
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntryBytes;
    if (tiff.u16(entry) != kOrientationTag) continue;
    // A short by the standard; programs also write a long, signed ones, or two shorts. More would lie elsewhere.
    const std::uint32_t type = tiff.u16(entry + 2), count = tiff.u32(entry + 4);
    const bool is_short = type == kTypeShort || type == kTypeSignedShort;
    const bool is_long = type == kTypeLong || type == kTypeSignedLong;
    const std::uint32_t value = is_long ? tiff.u32(entry + 8) : tiff.u16(entry + 8);
    const bool is_here = is_short ? count == 1 || count == 2 : is_long && count == 1;
    const bool sensible = is_here && value >= 1 && value <= 8;
    orientation = sensible ? static_cast<Orientation>(value) : Orientation{1};  // the last counts, as in Pillow
  }
  return orientation;
}

std::vector<std::uint8_t> make_exif(Orientation orientation) {
  // After the opening a TIFF header, the lowest byte first, and a directory of one entry, with no other after it.
  std::vector<std::uint8_t> exif = {'E',  'x',  'i', 'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0,
                                    0x12, 0x01, 3,   0,   1, 0, 0,   0,   0,  0, 0, 0, 0, 0, 0, 0};
  exif[24] = orientation;
  return exif;
}

}  // namespace stoker
