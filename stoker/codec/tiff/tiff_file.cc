#include "stoker/codec/tiff/tiff_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <optional>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/codec/tiff/tiff_segment_checks.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

enum TiffTag : std::uint64_t {
  kTagWidth = 256,
  kTagHeight = 257,
  kTagBitsPerSample = 258,
  kTagCompression = 259,
  kTagPhotometric = 262,
  kTagFillOrder = 266,
  kTagStripOffsets = 273,
  kTagOrientation = 274,
  kTagSamplesPerPixel = 277,
  kTagRowsPerStrip = 278,
  kTagStripByteCounts = 279,
  kTagPlanarConfiguration = 284,
  kTagGroup3Options = 292,
  kTagPredictor = 317,
  kTagColorMap = 320,
  kTagTileWidth = 322,
  kTagTileHeight = 323,
  kTagTileOffsets = 324,
  kTagTileByteCounts = 325,
  kTagExtraSamples = 338,
  kTagSampleFormat = 339,
  kTagJpegTables = 347,
};

// Real directories have some dozens.
constexpr std::uint64_t kEntriesMax = 4096;
// Colours and what scanners and editors put beside them: as many as Pillow reads.
constexpr std::uint64_t kSamplesMax = 6;
// Writers make tiles of one size, also for small images. A tile takes memory, which is reckoned from the image's size
// alone (kTile in decode_memory.cc): so this is what every TIFF takes.
constexpr std::uint64_t kTileSideMin = 1024;
constexpr std::size_t kJpegTablesBytesMax = 1 << 16;

[[noreturn]] void refuse_tiff(std::string_view because) {
  fail(ErrorKind::kBadSample, "the TIFF data cannot be decoded: {}", because);
}

/// Of the types that integers, and bytes of any meaning, are written in; 0 for others.
std::size_t bytes_of_type(std::uint64_t type) {
  switch (type) {
    case 1:             // BYTE
    case 7: return 1;   // UNDEFINED
    case 3: return 2;   // SHORT
    case 4: return 4;   // LONG
    case 16: return 8;  // LONG8
    default: return 0;
  }
}

/// The entries of a file's first directory.
class TiffDirectory {
 public:
  explicit TiffDirectory(Bytes file) : file_(file), big_endian_(file[0] == 'M'), big_(number(2, 2) == 43) {
    const std::uint64_t at = big_ ? number(8, 8) : number(4, 4);
    const std::size_t count_bytes = big_ ? 8 : 2;
    const std::uint64_t count = number(at, count_bytes);
    if (count > kEntriesMax) refuse_tiff("its directory has too many entries");
    entries_ = part(at + count_bytes, count * entry_bytes());
  }

  bool big_endian() const { return big_endian_; }

  /// Nothing where the file lacks the tag.
  std::optional<TiffNumbers> find(TiffTag tag) const {
    for (std::size_t at = 0; at < entries_.size(); at += entry_bytes()) {
      const Bytes entry = entries_.subspan(at, entry_bytes());
      if (numbers(entry, 2)[0] == tag) return values_of(entry);
    }
    return std::nullopt;
  }
  /// The first number.
  std::uint64_t number_of(TiffTag tag, std::uint64_t otherwise) const {
    const std::optional<TiffNumbers> found = find(tag);
    return found && found->count() > 0 ? (*found)[0] : otherwise;
  }

 private:
  std::size_t entry_bytes() const { return big_ ? 20 : 12; }
  TiffNumbers numbers(Bytes bytes, std::size_t size) const { return {bytes, size, big_endian_}; }
  std::uint64_t number(std::uint64_t at, std::size_t size) const { return numbers(part(at, size), size)[0]; }

  Bytes part(std::uint64_t at, std::uint64_t size) const {
    if (at > file_.size() || size > file_.size() - at) refuse_tiff("it is truncated");
    return file_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
  }

  TiffNumbers values_of(Bytes entry) const {
    const std::size_t count_bytes = big_ ? 8 : 4, size = bytes_of_type(numbers(entry.subspan(2), 2)[0]);
    if (size == 0) refuse_tiff("a tag of its image has values of a wrong type");
    const std::uint64_t count = numbers(entry.subspan(4), count_bytes)[0];
    const Bytes value = entry.subspan(4 + count_bytes);
    if (count > file_.size() / size) refuse_tiff("it is truncated");
    const auto bytes = static_cast<std::size_t>(count) * size;
    if (bytes <= count_bytes) return numbers(value.first(bytes), size);
    return numbers(part(numbers(value, count_bytes)[0], bytes), size);
  }

  Bytes file_, entries_;
  bool big_endian_, big_;
};

bool is_read(std::uint64_t compression) {
  switch (static_cast<TiffCompression>(compression)) {
    case TiffCompression::kNone:
    case TiffCompression::kCcittRuns:
    case TiffCompression::kCcittGroup3:
    case TiffCompression::kCcittGroup4:
    case TiffCompression::kLzw:
    case TiffCompression::kJpeg:
    case TiffCompression::kDeflate:
    case TiffCompression::kPackBits:
    case TiffCompression::kOldDeflate:
    case TiffCompression::kZstd: return compression <= 0xFFFF;
  }
  return false;
}

bool is_ccitt(TiffCompression compression) {
  return compression == TiffCompression::kCcittRuns || compression == TiffCompression::kCcittGroup3 ||
         compression == TiffCompression::kCcittGroup4;
}

/// How many samples the colours have; 0 for kinds that are not read.
int samples_of(std::uint64_t photometric) {
  switch (photometric) {
    case 0:
    case 1:
    case 3: return 1;
    case 2:
    case 6: return 3;
    case 5: return 4;
    default: return 0;
  }
}

bool all_are(const std::optional<TiffNumbers>& numbers, std::uint64_t value) {
  for (std::size_t i = 0; numbers && i < numbers->count(); ++i) {
    if ((*numbers)[i] != value) return false;
  }
  return true;
}

void read_samples(const TiffDirectory& directory, TiffImage& image) {
  const std::uint64_t photometric = directory.number_of(kTagPhotometric, 0),
                      compression = directory.number_of(kTagCompression, 1);
  const std::uint64_t samples = directory.number_of(kTagSamplesPerPixel, 1),
                      bits = directory.number_of(kTagBitsPerSample, 1);
  const int colors = samples_of(photometric);
  if (colors == 0)
    fail(ErrorKind::kBadSample, "TIFF images of photometric interpretation {} are not read", photometric);
  if (!is_read(compression)) fail(ErrorKind::kBadSample, "TIFF images of compression {} are not read", compression);
  if (!all_are(directory.find(kTagSampleFormat), 1)) refuse_tiff("its samples are signed or floating-point numbers");
  if (!all_are(directory.find(kTagBitsPerSample), bits)) refuse_tiff("its samples differ in their bits");
  if (samples < static_cast<std::uint64_t>(colors) || samples > kSamplesMax) {
    fail(ErrorKind::kBadSample, "TIFF images of {} samples a pixel, of which {} are colours, are not read", samples,
         colors);
  }
  image.colors = static_cast<TiffColors>(photometric);
  image.compression = static_cast<TiffCompression>(compression);
  image.samples = static_cast<int>(samples);
  const bool any_depth = colors == 1 && samples == 1, palette = image.colors == TiffColors::kPalette;
  const bool read = bits == 8 || (bits == 16 && !palette) || (any_depth && (bits == 1 || bits == 2 || bits == 4));
  if (!read) fail(ErrorKind::kBadSample, "TIFF images of {} bits a sample are not read in this kind of colours", bits);
  image.bits = static_cast<int>(bits);
  image.premultiplied = image.samples > colors && directory.number_of(kTagExtraSamples, 0) == 1;
  if (palette) {
    image.color_map = directory.find(kTagColorMap).value_or(TiffNumbers{});
    if (image.color_map.count() < 3) refuse_tiff("it has no palette");
  }
}

void read_coding(const TiffDirectory& directory, TiffImage& image) {
  const bool jpeg = image.compression == TiffCompression::kJpeg;
  if (jpeg && image.bits != 8) refuse_tiff("the JPEG data in it do not have 8 bits");
  if (is_ccitt(image.compression) && (image.bits != 1 || image.samples != 1)) {
    refuse_tiff("its fax coding is not of one bit a pixel");
  }
  if (image.colors == TiffColors::kYcbcr && (!jpeg || image.samples != 3)) {
    refuse_tiff("it has YCbCr colours other than a JPEG's");
  }
  image.bits_reversed = !jpeg && directory.number_of(kTagFillOrder, 1) == 2;
  image.separate_planes = image.samples > 1 && directory.number_of(kTagPlanarConfiguration, 1) == 2;
  if (image.separate_planes && image.colors == TiffColors::kYcbcr) refuse_tiff("its YCbCr colours are in planes");
  image.group3_options = static_cast<std::uint32_t>(directory.number_of(kTagGroup3Options, 0));
  const bool predicts = image.compression == TiffCompression::kLzw || image.compression == TiffCompression::kDeflate ||
                        image.compression == TiffCompression::kOldDeflate ||
                        image.compression == TiffCompression::kZstd;
  const std::uint64_t predictor = predicts ? directory.number_of(kTagPredictor, 1) : 1;
  if (predictor > 2 || (predictor == 2 && image.bits < 8)) refuse_tiff("its predictor does not suit its samples");
  image.differences = predictor == 2;
  const std::uint64_t orientation = directory.number_of(kTagOrientation, 1);
  if (orientation >= 1 && orientation <= 8) image.orientation = static_cast<Orientation>(orientation);
  if (const auto tables = directory.find(kTagJpegTables); jpeg && tables) image.jpeg_tables = tables->bytes;
  if (image.jpeg_tables.size() > kJpegTablesBytesMax) refuse_tiff("its JPEG tables are too large");
}

int side_of(std::uint64_t side) {
  if (side < 1 || side > INT_MAX / 16) refuse_tiff("its size makes no sense");
  return static_cast<int>(side);
}

int tile_side(std::uint64_t tile, int image) {
  const auto side = static_cast<std::uint64_t>(image);
  if (tile < 1) refuse_tiff("its tiles make no sense");
  const std::uint64_t most = std::max(kTileSideMin, (side + 15) / 16 * 16);
  if (tile > most) {
    refuse_tiff(
        fmt::format("its tiles have a side of {} pixels, and {} are the most for this image; write it with "
                    "smaller tiles or with strips",
                    tile, most));
  }
  return static_cast<int>(tile);
}

void read_segments(const TiffDirectory& directory, TiffImage& image) {
  const bool tiled = directory.find(kTagTileWidth).has_value();
  const std::optional<TiffNumbers> offsets = directory.find(tiled ? kTagTileOffsets : kTagStripOffsets);
  if (!offsets) refuse_tiff("it does not say where its pixels are");
  image.offsets = *offsets;
  image.byte_counts = directory.find(tiled ? kTagTileByteCounts : kTagStripByteCounts).value_or(TiffNumbers{});
  if (tiled) {
    image.segment_width = tile_side(directory.number_of(kTagTileWidth, 0), image.width);
    image.segment_height = tile_side(directory.number_of(kTagTileHeight, 0), image.height);
  } else {
    const auto height = static_cast<std::uint64_t>(image.height);
    const std::uint64_t rows = std::min(directory.number_of(kTagRowsPerStrip, height), height);
    if (rows == 0) refuse_tiff("its strips have no rows");
    image.segment_width = image.width;
    image.segment_height = static_cast<int>(rows);
  }
  image.tiled = tiled;
  image.across = (image.width - 1) / image.segment_width + 1;
  image.down = (image.height - 1) / image.segment_height + 1;
  const std::uint64_t count =
      std::uint64_t(image.across) * static_cast<std::uint64_t>(image.down) * static_cast<std::uint64_t>(image.planes());
  const bool counted = image.compression == TiffCompression::kNone || image.byte_counts.count() >= count;
  if (count > INT_MAX || image.offsets.count() < count || !counted)
    refuse_tiff("it says too little of where its pixels are");
}

}  // namespace

std::uint64_t TiffNumbers::operator[](std::size_t i) const {
  std::uint64_t number = 0;
  for (std::size_t k = 0; k < size; ++k) {
    number |= std::uint64_t{bytes[i * size + k]} << 8 * (big_endian ? size - 1 - k : k);
  }
  return number;
}

std::size_t TiffImage::row_bytes() const {
  const std::uint64_t row_bits = std::uint64_t(segment_width) * static_cast<std::uint64_t>(samples_in_segment()) *
                                 static_cast<std::uint64_t>(bits);
  return static_cast<std::size_t>((row_bits + 7) / 8);
}

int TiffImage::rows_of(int segment) const {
  const int row = segment % (across * down) / across;
  return tiled ? segment_height : std::min(segment_height, height - row * segment_height);
}

Bytes TiffImage::segment(int segment) const {
  const auto i = static_cast<std::size_t>(segment);
  // What is not compressed has a size that follows from the image's, and files err when they say it.
  const std::uint64_t size =
      compression == TiffCompression::kNone ? row_bytes() * static_cast<std::size_t>(rows_of(segment)) : byte_counts[i];
  const std::uint64_t at = offsets[i];
  if (at > file.size() || size > file.size() - at) refuse_tiff("it is truncated");
  return file.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
}

TiffPalette TiffImage::palette() const {
  TiffPalette palette{};
  const std::size_t known = color_map.count() / 3;
  for (std::size_t i = 0; i < std::min<std::size_t>(known, 256); ++i) {
    for (std::size_t c = 0; c < 3; ++c) palette[i][c] = static_cast<std::uint8_t>(color_map[c * known + i] >> 8);
  }
  return palette;
}

bool has_tiff_magic(Bytes encoded) {
  const std::string_view text = as_text(encoded);
  return text.starts_with("II*\0"sv) || text.starts_with("MM\0*"sv) || text.starts_with("II+\0"sv) ||
         text.starts_with("MM\0+"sv);
}

TiffImage read_tiff(Bytes encoded) {
  if (!has_tiff_magic(encoded)) refuse_tiff("it does not begin as one");
  const TiffDirectory directory(encoded);
  TiffImage image;
  image.file = encoded;
  image.big_endian = directory.big_endian();
  image.width = side_of(directory.number_of(kTagWidth, 0));
  image.height = side_of(directory.number_of(kTagHeight, 0));
  read_samples(directory, image);
  read_coding(directory, image);
  read_segments(directory, image);
  check_tiff_segments(image);
  return image;
}

}  // namespace stoker
