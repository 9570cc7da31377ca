#include "stoker/codec/bmp_decoder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"

namespace stoker {

struct BmpHeader {
  int width = 0, height = 0;
  bool top_down = false;
  int bits = 0;
  std::uint32_t compression = 0;
  std::array<std::uint32_t, 4> masks{};  // red, green, blue, alpha
  std::size_t palette = 0, palette_entry_bytes = 4, palette_entries = 0;
  std::size_t data = 0;  // where pixels begin

  std::size_t row_bytes() const {  // without the padding
    return (static_cast<std::size_t>(width) * static_cast<std::size_t>(bits) + 7) / 8;
  }
  std::size_t stride() const { return (row_bytes() + 3) / 4 * 4; }
  bool has_runs() const { return compression == 1 || compression == 2; }
  std::size_t pixel_count() const { return static_cast<std::size_t>(width) * static_cast<std::size_t>(height); }
};

/// Those of the file, or what its run lengths stand for.
struct BmpRows {
  const std::uint8_t* first;  // in the order of the file
  std::size_t stride;
  int bits;

  /// The row that is shown in this line.
  const std::uint8_t* at(const BmpHeader& header, int line) const {
    return first + stride * static_cast<std::size_t>(header.top_down ? line : header.height - 1 - line);
  }
};

namespace {

constexpr std::size_t kBmpFileHeaderBytes = 14, kBmpOldHeaderBytes = 12, kBmpHeaderBytes = 40;
constexpr std::uint32_t kBmpPlain = 0, kBmpRuns8 = 1, kBmpRuns4 = 2, kBmpMasks = 3;
constexpr std::array<std::uint32_t, 3> kMasks555 = {0x7C00, 0x3E0, 0x1F}, kMasks565 = {0xF800, 0x7E0, 0x1F},
                                       kMasks888 = {0xFF0000, 0xFF00, 0xFF};

template <typename... Args>
[[noreturn]] void refuse_bmp(fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorKind::kBadSample, "the BMP data cannot be decoded: {}", fmt::format(format, std::forward<Args>(args)...));
}

std::uint32_t bmp_u32(Bytes bytes, std::size_t at) { return load_little_endian<std::uint32_t>(bytes.data() + at); }
int bmp_u16(Bytes bytes, std::size_t at) { return load_little_endian<std::uint16_t>(bytes.data() + at); }

bool is_header_size(std::size_t bytes) {
  constexpr std::size_t kSizes[] = {kBmpOldHeaderBytes, kBmpHeaderBytes, 52, 56, 64, 108, 124};
  return std::find(std::begin(kSizes), std::end(kSizes), bytes) != std::end(kSizes);
}

// A mask of eight bits begins at a byte.
bool is_byte_mask(std::uint32_t mask) {
  return mask == 0xFF || mask == 0xFF00 || mask == 0xFF0000 || mask == 0xFF000000;
}

void check_masks(const BmpHeader& header) {
  const std::array<std::uint32_t, 3> colors = {header.masks[0], header.masks[1], header.masks[2]};
  const bool known = header.bits == 32   ? std::all_of(colors.begin(), colors.end(), is_byte_mask)
                     : header.bits == 24 ? colors == kMasks888
                                         : header.bits == 16 && (colors == kMasks555 || colors == kMasks565);
  if (!known) refuse_bmp("its pixels of {} bits have masks that Stoker does not read", header.bits);
}

// The masks of a file with compression 3, which lie in its header or after it; of others those that the bits imply.
// Returns how many bytes they take after the header.
std::size_t read_masks(Bytes encoded, std::size_t header_bytes, BmpHeader& header) {
  const auto& implied = header.bits == 16 ? kMasks555 : kMasks888;
  std::copy(implied.begin(), implied.end(), header.masks.begin());
  if (header.compression != kBmpMasks) return 0;
  const bool after = header_bytes == kBmpHeaderBytes;
  constexpr std::size_t kAt = kBmpFileHeaderBytes + kBmpHeaderBytes;
  const std::size_t count = after || header_bytes == 52 ? 3 : 4;
  if (encoded.size() < kAt + 4 * count) refuse_bmp("it is truncated");
  std::array<std::uint32_t, 4> masks{};
  for (std::size_t i = 0; i < count; ++i) masks[i] = bmp_u32(encoded, kAt + 4 * i);
  // Some programs write no masks but zeros, and mean the usual ones with alpha.
  if (masks == std::array<std::uint32_t, 4>{} && header.bits == 32) masks = {0xFF0000, 0xFF00, 0xFF, 0xFF000000};
  header.masks = masks;
  check_masks(header);
  return after ? 4 * count : 0;
}

void read_sizes(Bytes encoded, std::size_t header_bytes, BmpHeader& header, std::uint32_t& colors) {
  constexpr std::size_t kAt = kBmpFileHeaderBytes + 4;
  if (header_bytes == kBmpOldHeaderBytes) {
    header.width = bmp_u16(encoded, kAt);
    header.height = bmp_u16(encoded, kAt + 2);
    header.bits = bmp_u16(encoded, kAt + 6);
    header.palette_entry_bytes = 3;
  } else {
    header.width = load_little_endian<std::int32_t>(encoded.data() + kAt);
    const auto height = load_little_endian<std::int32_t>(encoded.data() + kAt + 4);
    if (height == std::numeric_limits<std::int32_t>::min()) refuse_bmp("its height makes no sense");
    header.top_down = height < 0;
    header.height = header.top_down ? -height : height;
    header.bits = bmp_u16(encoded, kAt + 10);
    header.compression = bmp_u32(encoded, kAt + 12);
    colors = bmp_u32(encoded, kAt + 28);
  }
  if (header.width < 1 || header.height < 1) refuse_bmp("it has no pixels");
}

void check_layout(const BmpHeader& header) {
  constexpr int kBits[] = {1, 4, 8, 16, 24, 32};
  if (std::find(std::begin(kBits), std::end(kBits), header.bits) == std::end(kBits)) {
    refuse_bmp("it has {} bits per pixel", header.bits);
  }
  const std::uint32_t compression = header.compression;
  const bool fits = compression == kBmpPlain || (compression == kBmpRuns8 && header.bits == 8) ||
                    (compression == kBmpRuns4 && header.bits == 4) || (compression == kBmpMasks && header.bits >= 16);
  if (!fits) refuse_bmp("Stoker does not read its compression {} for {} bits", compression, header.bits);
}

BmpHeader read_bmp_header(Bytes encoded) {
  if (!has_bmp_magic(encoded)) refuse_bmp("it is truncated or has an unknown header");
  const std::size_t header_bytes = bmp_u32(encoded, kBmpFileHeaderBytes);
  std::size_t end = kBmpFileHeaderBytes + header_bytes;
  if (encoded.size() < end) refuse_bmp("it is truncated");
  BmpHeader header;
  std::uint32_t colors = 0;
  read_sizes(encoded, header_bytes, header, colors);
  check_layout(header);
  end += read_masks(encoded, header_bytes, header);

  header.data = bmp_u32(encoded, 10);
  if (header.bits <= 8) {
    const std::size_t told = colors ? colors : std::size_t{1} << header.bits;
    header.palette = end;
    header.palette_entries = std::min<std::size_t>(told, 256);
    if (encoded.size() < end + header.palette_entries * header.palette_entry_bytes) refuse_bmp("it is truncated");
    // Some programs forget the palette when they say where pixels begin.
    if (header.data == end || header.data == 0) header.data = end + told * header.palette_entry_bytes;
  } else if (header.data == 0) {
    header.data = end;
  }
  const std::size_t rows = static_cast<std::size_t>(header.height);
  const std::size_t needed = header.has_runs() ? 1 : header.stride() * (rows - 1) + header.row_bytes();
  if (header.data > encoded.size() || encoded.size() - header.data < needed) refuse_bmp("it is truncated");
  return header;
}

using BmpPalette = std::array<std::array<std::uint8_t, 3>, 256>;

BmpPalette read_palette(Bytes encoded, const BmpHeader& header) {
  BmpPalette palette{};
  for (std::size_t i = 0; i < header.palette_entries; ++i) {
    const std::uint8_t* bgr = encoded.data() + header.palette + i * header.palette_entry_bytes;
    palette[i] = {bgr[2], bgr[1], bgr[0]};
  }
  return palette;
}

std::uint8_t* put(std::uint8_t* out, const std::array<std::uint8_t, 3>& rgb) {
  return std::copy(rgb.begin(), rgb.end(), out);
}

// `row` has pixels of 1, 4 or 8 bits, the leftmost in the highest ones.
void look_up(const std::uint8_t* row, int bits, int x, int count, const BmpPalette& palette, std::uint8_t* out) {
  const unsigned mask = (1u << bits) - 1;
  for (int i = x; i < x + count; ++i) {
    const std::size_t bit = static_cast<std::size_t>(i) * static_cast<std::size_t>(bits);
    const unsigned index = static_cast<unsigned>(row[bit / 8]) >> (8 - bits - static_cast<int>(bit % 8)) & mask;
    out = put(out, palette[index]);
  }
}

// As Pillow widens fields of five and six bits: rounded down.
void widen(const std::uint8_t* row, bool six_green, int count, std::uint8_t* out) {
  for (int i = 0; i < count; ++i) {
    const unsigned pixel = row[2 * i] | static_cast<unsigned>(row[2 * i + 1]) << 8;
    const unsigned blue = pixel & 31, red = pixel >> (six_green ? 11 : 10) & 31;
    const unsigned green = six_green ? (pixel >> 5 & 63) * 255 / 63 : (pixel >> 5 & 31) * 255 / 31;
    out = put(out, {static_cast<std::uint8_t>(red * 255 / 31), static_cast<std::uint8_t>(green),
                    static_cast<std::uint8_t>(blue * 255 / 31)});
  }
}

void pick_bytes(const std::uint8_t* row, const BmpHeader& header, int count, std::uint8_t* out) {
  std::array<std::ptrdiff_t, 3> at{};
  for (std::size_t c = 0; c < 3; ++c) {
    while (header.masks[c] >> 8 * at[c] != 0xFF) ++at[c];
  }
  for (const std::ptrdiff_t step = header.bits / 8; count > 0; --count, row += step) {
    out = put(out, {row[at[0]], row[at[1]], row[at[2]]});
  }
}

}  // namespace

bool has_bmp_magic(Bytes encoded) {
  return encoded.size() >= kBmpFileHeaderBytes + 4 && encoded[0] == 'B' && encoded[1] == 'M' &&
         is_header_size(bmp_u32(encoded, kBmpFileHeaderBytes));
}

ImageFacts BmpDecoder::read_facts(Bytes encoded) {
  const BmpHeader header = read_bmp_header(encoded);
  return {.codec = Codec::kBmp,
          .width = header.width,
          .height = header.height,
          .components = header.bits == 32 && header.masks[3] != 0 ? 4 : 3};
}

// A byte per pixel in the order of the file. A run of one colour ends with its row at the latest; a delta and literal
// pixels go on in the next.
const std::uint8_t* BmpDecoder::expand_runs(Bytes encoded, const BmpHeader& header) {
  const std::size_t size = header.pixel_count(), width = static_cast<std::size_t>(header.width);
  std::uint8_t* const indices = indices_.bytes(size);
  std::fill_n(indices, size, std::uint8_t{0});
  const bool four = header.compression == kBmpRuns4;
  const auto index_in = [&](std::uint8_t byte, std::size_t i) {
    return static_cast<std::uint8_t>(!four ? byte : i % 2 ? byte & 15 : byte >> 4);
  };
  Bytes codes = encoded.subspan(header.data);
  const auto need = [&](std::size_t bytes) {
    if (codes.size() < bytes) refuse_bmp("it is truncated");
  };
  std::size_t at = 0, column = 0;
  while (at < size) {
    need(2);
    const std::size_t count = codes[0];
    const std::uint8_t value = codes[1];
    codes = codes.subspan(2);
    if (count > 0) {
      const std::size_t fits = std::min({count, width - std::min(width, column), size - at});
      for (std::size_t i = 0; i < fits; ++i) indices[at + i] = index_in(value, i);
      at += fits, column += fits;
    } else if (value == 0) {
      at = (at + width - 1) / width * width;
      column = 0;
    } else if (value == 1) {
      break;
    } else if (value == 2) {
      need(2);
      at += codes[0] + codes[1] * width;
      column = at % width;
      codes = codes.subspan(2);
    } else {
      const std::size_t bytes = four ? (value + 1u) / 2 : value;
      need(bytes);
      const std::size_t fits = std::min<std::size_t>(value, size - at);
      for (std::size_t i = 0; i < fits; ++i) indices[at + i] = index_in(codes[four ? i / 2 : i], i);
      at += fits, column += value;
      codes = codes.subspan(std::min(codes.size(), bytes + bytes % 2));
    }
  }
  return indices;
}

BmpRows BmpDecoder::rows_of(Bytes encoded, const BmpHeader& header) {
  if (header.has_runs()) return {expand_runs(encoded, header), static_cast<std::size_t>(header.width), 8};
  return {encoded.data() + header.data, header.stride(), header.bits};
}

ImageView BmpDecoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes) {
  const BmpHeader header = read_bmp_header(encoded);
  check_decode_request(facts, header.width, header.height, window);
  const BmpRows rows = rows_of(encoded, header);
  const BmpPalette palette = header.bits <= 8 ? read_palette(encoded, header) : BmpPalette{};

  const std::size_t out_bytes = std::size_t{3} * static_cast<std::size_t>(window.width);
  std::uint8_t* const pixels = pixels_.bytes(out_bytes * static_cast<std::size_t>(window.height));
  for (int y = 0; y < window.height; ++y) {
    const std::uint8_t* const row = rows.at(header, window.y + y);
    std::uint8_t* const out = pixels + out_bytes * static_cast<std::size_t>(y);
    if (rows.bits <= 8) {
      look_up(row, rows.bits, window.x, window.width, palette, out);
    } else if (rows.bits == 16) {
      widen(row + std::ptrdiff_t{2} * window.x, header.masks[0] == kMasks565[0], window.width, out);
    } else {
      pick_bytes(row + std::ptrdiff_t{rows.bits / 8} * window.x, header, window.width, out);
    }
  }
  return interleaved_view<const std::uint8_t>(pixels, window.width, window.height, 3);
}

MaskPixels BmpDecoder::decode_numbers(Bytes encoded, const ImageFacts& facts) {
  const BmpHeader header = read_bmp_header(encoded);
  check_decode_request(facts, header.width, header.height, {0, 0, facts.width, facts.height});
  if (header.bits > 8) refuse_colors_of_mask();
  const BmpRows rows = rows_of(encoded, header);
  std::uint8_t* const numbers = pixels_.bytes(header.pixel_count());
  for (int y = 0; y < header.height; ++y) {
    std::uint8_t* const out = numbers + static_cast<std::size_t>(y) * static_cast<std::size_t>(header.width);
    if (rows.bits < 8) {
      unpack_numbers(rows.at(header, y), rows.bits, header.width, out);
    } else {
      std::copy_n(rows.at(header, y), header.width, out);
    }
  }
  return {.width = header.width, .height = header.height, .numbers = numbers};
}

}  // namespace stoker
