// What the first directory of a TIFF file says of its image, and where the image's segments (strips or tiles) lie. All
// of it is checked here, so that libtiff sees segments alone and no structure that a stranger wrote.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stoker/base/bytes.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

// The numbers of these enumerations are those of TIFF 6.0.
enum class TiffCompression : std::uint16_t {
  kNone = 1,
  kCcittRuns = 2,
  kCcittGroup3 = 3,
  kCcittGroup4 = 4,
  kLzw = 5,
  kJpeg = 7,
  kDeflate = 8,
  kPackBits = 32773,
  kOldDeflate = 32946,
  kZstd = 50000,
};
enum class TiffColors : std::uint16_t {
  kWhiteIsZero = 0,
  kBlackIsZero = 1,
  kRgb = 2,
  kPalette = 3,
  kCmyk = 5,
  kYcbcr = 6,
};

/// Integers of a file, of any size and byte order.
struct TiffNumbers {
  Bytes bytes;
  std::size_t size = 2;  // of each, in bytes
  bool big_endian = false;

  std::size_t count() const { return bytes.size() / size; }
  std::uint64_t operator[](std::size_t i) const;
};

using TiffPalette = std::array<std::array<std::uint8_t, 3>, 256>;

/// Views the file.
struct TiffImage {
  Bytes file;
  bool big_endian = false;
  int width = 0, height = 0;
  int bits = 1, samples = 1;
  TiffCompression compression = TiffCompression::kNone;
  TiffColors colors = TiffColors::kWhiteIsZero;
  bool premultiplied = false;    // the sample after the colours is an alpha that they are multiplied by
  bool bits_reversed = false;    // the leftmost pixel has the lowest bits
  bool separate_planes = false;  // each segment has one sample of its pixels
  bool differences = false;      // samples less their left neighbours
  std::uint32_t group3_options = 0;
  Orientation orientation = 1;
  TiffNumbers color_map;
  Bytes jpeg_tables;
  JpegCoding jpeg_coding = JpegCoding::kNone;
  int jpeg_across = 1, jpeg_down = 1;  // the first component's sampling factors

  bool tiled = false;
  int segment_width = 0, segment_height = 0;
  int across = 0, down = 0;  // segments of a plane
  TiffNumbers offsets, byte_counts;

  int planes() const { return separate_planes ? samples : 1; }
  int samples_in_segment() const { return separate_planes ? 1 : samples; }
  int segments() const { return across * down * planes(); }
  /// Of a segment's rows, filled up to whole bytes.
  std::size_t row_bytes() const;
  /// How many rows of the segment lie in the image or, of a tile, below it.
  int rows_of(int segment) const;
  /// What codes the segment.
  Bytes segment(int segment) const;
  /// Colours that the file lacks are black.
  TiffPalette palette() const;
};

constexpr std::uint8_t reversed_bits(std::uint8_t byte) {
  unsigned bits = byte;
  bits = (bits & 0xF0) >> 4 | (bits & 0x0F) << 4;
  bits = (bits & 0xCC) >> 2 | (bits & 0x33) << 2;
  bits = (bits & 0xAA) >> 1 | (bits & 0x55) << 1;
  return static_cast<std::uint8_t>(bits);
}

bool has_tiff_magic(Bytes encoded);

/// Throws kBadSample unless all segments lie within the file and are of a kind that is read here.
TiffImage read_tiff(Bytes encoded);

}  // namespace stoker
