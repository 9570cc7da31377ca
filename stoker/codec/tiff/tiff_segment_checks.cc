#include "stoker/codec/tiff/tiff_segment_checks.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/codec/jpeg/markers.h"

namespace stoker {
namespace {

// What libzstd's manual asks every decoder to take; libtiff's own encoder stays below it.
constexpr std::uint64_t kZstdWindowMax = 8 << 20;

[[noreturn]] void refuse_segment(std::string_view because) {
  fail(ErrorKind::kBadSample, "the TIFF data cannot be decoded: {}", because);
}

// The header of a Zstandard frame (RFC 8878, 3.1.1.1) says how many bytes the decoder must keep.
void check_zstd(Bytes segment, bool reversed, std::uint64_t pixel_bytes) {
  constexpr std::uint32_t kZstdFrame = 0xFD2FB528;
  std::array<std::uint8_t, 18> turned;  // no header is longer
  if (reversed) {
    segment = segment.first(std::min(segment.size(), turned.size()));
    std::transform(segment.begin(), segment.end(), turned.begin(), reversed_bits);
    segment = Bytes(turned).first(segment.size());
  }
  if (segment.size() < 6 || load_little_endian<std::uint32_t>(segment.data()) != kZstdFrame) {
    refuse_segment("a part of it is not Zstandard data");
  }
  const unsigned flags = segment[4];
  if (flags & 0x20) {  // the window is the content, whose size follows the dictionary's number
    constexpr std::size_t kDictionaryBytes[] = {0, 1, 2, 4}, kSizeBytes[] = {1, 2, 4, 8};
    const std::size_t at = 5 + kDictionaryBytes[flags & 3], bytes = kSizeBytes[flags >> 6];
    if (segment.size() < at + bytes) refuse_segment("it is truncated");
    std::uint64_t size = bytes == 2 ? 256 : 0;
    for (std::size_t i = 0; i < bytes; ++i) size += std::uint64_t{segment[at + i]} << 8 * i;
    if (size > pixel_bytes) refuse_segment("its Zstandard data are larger than its pixels");
    return;
  }
  const unsigned exponent = 10u + (segment[5] >> 3), eighths = segment[5] & 7u;
  const std::uint64_t window = (std::uint64_t{8} + eighths) << (exponent - 3);
  if (window > kZstdWindowMax) refuse_segment("its Zstandard data need too large a window");
}

struct JpegShape {
  int width = 0, height = 0, components = 0, across = 1, down = 1;
  JpegCoding coding = JpegCoding::kNone;
};

bool is_jpeg_frame(std::uint8_t marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != kHuffmanCodes && marker != 0xC8 && marker != 0xCC;
}

JpegShape read_jpeg_frame(std::uint8_t marker, Bytes segment) {
  if (segment.size() < 6) refuse_segment("the JPEG data in it are damaged");
  if (marker != kBaselineFrame && marker != kExtendedFrame && marker != 0xC2) {
    refuse_segment("the JPEG data in it are of a rare kind");
  }
  JpegShape shape{
      .width = segment[3] << 8 | segment[4], .height = segment[1] << 8 | segment[2], .components = segment[5]};
  if (segment[0] != 8 || shape.components < 1 || segment.size() < 6 + 3 * static_cast<std::size_t>(shape.components)) {
    refuse_segment("the JPEG data in it are damaged");
  }
  shape.across = segment[7] >> 4;
  shape.down = segment[7] & 15;
  shape.coding = marker == 0xC2 ? JpegCoding::kProgressive : JpegCoding::kSequential;
  return shape;
}

/// From the markers before the pixels.
JpegShape read_jpeg_shape(Bytes jpeg) {
  JpegShape shape;
  std::size_t at = 0;
  while (jpeg.size() - at >= 4) {
    if (jpeg[at] != 0xFF) break;
    const std::uint8_t marker = jpeg[at + 1];
    if (marker == 0xFF) {
      ++at;
      continue;
    }
    if (marker == kStartOfImage) {
      at += 2;
      continue;
    }
    const std::size_t length = std::size_t{jpeg[at + 2]} << 8 | jpeg[at + 3];
    if (length < 2 || length > jpeg.size() - at - 2) break;
    const Bytes segment = jpeg.subspan(at + 4, length - 2);
    if (marker == kStartOfScan) {
      if (shape.coding == JpegCoding::kNone || segment.empty()) break;
      const bool all_at_once = segment[0] == shape.components;
      if (shape.coding == JpegCoding::kSequential && !all_at_once) shape.coding = JpegCoding::kSequentialScans;
      return shape;
    }
    if (is_jpeg_frame(marker)) {
      if (shape.coding != JpegCoding::kNone) break;
      shape = read_jpeg_frame(marker, segment);
    }
    at += 2 + length;
  }
  refuse_segment("the JPEG data in it are damaged");
}

void check_jpeg(int segment, TiffImage& image) {
  const JpegShape shape = read_jpeg_shape(image.segment(segment));
  const bool fits = shape.width == image.segment_width && shape.height >= image.rows_of(segment) &&
                    shape.height <= image.segment_height && shape.components == image.samples_in_segment();
  if (!fits) refuse_segment("the JPEG data in it are not of its size");
  if (segment > 0 && (shape.across != image.jpeg_across || shape.down != image.jpeg_down)) {
    refuse_segment("the JPEG data in it differ in their sampling");
  }
  image.jpeg_across = shape.across;
  image.jpeg_down = shape.down;
  image.jpeg_coding = std::max(image.jpeg_coding, shape.coding);
}

}  // namespace

void check_tiff_segments(TiffImage& image) {
  // Tiles of one colour may share their data, which then are few.
  const std::uint64_t pixel_bytes = image.row_bytes() * static_cast<std::uint64_t>(image.segment_height);
  const std::uint64_t bytes_max = 2 * (image.file.size() + pixel_bytes * static_cast<std::uint64_t>(image.segments()));
  std::uint64_t bytes = 0;
  for (int segment = 0; segment < image.segments(); ++segment) {
    const Bytes coded = image.segment(segment);
    bytes += coded.size();
    if (coded.empty()) refuse_segment("a part of its pixels is missing");
    if (bytes > bytes_max) refuse_segment("its parts lie on each other");
    if (image.compression == TiffCompression::kJpeg) check_jpeg(segment, image);
    if (image.compression == TiffCompression::kZstd) check_zstd(coded, image.bits_reversed, pixel_bytes);
  }
}

}  // namespace stoker
