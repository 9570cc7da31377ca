#include "stoker/codec/jpeg2000/codestream_checks.h"

#include <algorithm>

#include "stoker/base/error.h"

namespace stoker {
namespace {

enum CodestreamMarker : std::uint32_t {
  kMarksStart = 0xFF4F,
  kMarksExtensions = 0xFF50,
  kMarksSize = 0xFF51,
  kMarksCodingStyle = 0xFF52,
  kMarksComponentCodingStyle = 0xFF53,
  kMarksProgressionChanges = 0xFF5F,
  kMarksPackedHeaders = 0xFF60,
  kMarksTilePackedHeaders = 0xFF61,
  kMarksMultipleTransforms = 0xFF74,
  kMarksLastMultipleTransforms = 0xFF78,
  kMarksStartOfTilePart = 0xFF90,
  kMarksStartOfData = 0xFF93,
};

constexpr std::uint32_t kLevelsMax = 32, kGridSideMax = 1u << 27;
// What openjpeg holds of a tile from the beginning to the end is worth 10 KB, what it holds of a block of code 600
// bytes.
constexpr std::uint64_t kFreeTiles = 64, kPixelsOfATile = 4096;
constexpr std::uint64_t kFreeBlocks = 1 << 14, kSamplesOfABlock = 128;
constexpr std::uint64_t kFreeBlocksOfAll = 1 << 20, kSamplesOfAnyBlock = 16;
// Packets, which each take some 50 ns, and two bytes for whether they were seen.
constexpr std::uint64_t kPacketsMax = 1 << 22, kPlacesMax = 1 << 24;

struct CodingStyle {
  std::uint32_t levels = 0;
  std::uint32_t block_across = 0, block_down = 0;        // logarithms
  std::array<std::uint8_t, kLevelsMax + 1> precincts{};  // of each resolution: the logarithms of height and width

  std::uint32_t precinct_across(std::uint32_t resolution) const { return precincts[resolution] & 15u; }
  std::uint32_t precinct_down(std::uint32_t resolution) const { return precincts[resolution] >> 4; }
};

struct Codestream {
  std::uint32_t left = 0, top = 0, right = 0, bottom = 0;
  std::uint32_t tile_width = 0, tile_height = 0;
  std::uint64_t tiles = 0;
  std::uint32_t layers = 0, progressions = 1;
  bool has_style = false;
  std::array<CodingStyle, 4> style;
};

void read_size(Jpeg2000Bytes size, Codestream& stream, Jpeg2000Image& image) {
  size.u16();  // capabilities
  stream.right = size.u32(), stream.bottom = size.u32();
  stream.left = size.u32(), stream.top = size.u32();
  const std::uint32_t tile_width = size.u32(), tile_height = size.u32(), tiles_left = size.u32(),
                      tiles_top = size.u32();
  const std::uint32_t components = size.u16();
  if (stream.right <= stream.left || stream.bottom <= stream.top || stream.right > kGridSideMax ||
      stream.bottom > kGridSideMax) {
    refuse_jpeg2000("its size makes no sense");
  }
  if (components < 1 || components > image.component.size()) {
    fail(ErrorKind::kBadSample, "JPEG 2000 images of {} components are not read", components);
  }
  const bool tiles_begin = tiles_left <= stream.left && tiles_top <= stream.top &&
                           tile_width > stream.left - tiles_left && tile_height > stream.top - tiles_top;
  if (!tiles_begin) refuse_jpeg2000("its tiles make no sense");
  image.width = static_cast<int>(stream.right - stream.left);
  image.height = static_cast<int>(stream.bottom - stream.top);
  image.components = static_cast<int>(components);
  stream.tile_width = std::min(tile_width, stream.right - tiles_left);
  stream.tile_height = std::min(tile_height, stream.bottom - tiles_top);
  stream.tiles = (std::uint64_t{stream.right - tiles_left - 1} / tile_width + 1) *
                 (std::uint64_t{stream.bottom - tiles_top - 1} / tile_height + 1);
  for (std::uint32_t c = 0; c < components; ++c) {
    const std::uint32_t bits = size.u8(), across = size.u8(), down = size.u8();
    image.component[c] = {.bits = static_cast<int>(bits & 0x7F) + 1,
                          .is_signed = (bits & 0x80) != 0,
                          .across = static_cast<int>(across),
                          .down = static_cast<int>(down)};
    if (image.component[c].bits > 16) refuse_jpeg2000("its samples have more than 16 bits");
    const bool chroma = c == 1 || c == 2;
    const bool fine = (across == 1 && down == 1) || (chroma && across >= 1 && across <= 4 && down >= 1 && down <= 4);
    if (!fine) refuse_jpeg2000("its components differ in their sizes");
  }
}

CodingStyle read_style(bool has_precincts, Jpeg2000Bytes& from) {
  CodingStyle style;
  style.levels = from.u8();
  style.block_across = from.u8() + 2, style.block_down = from.u8() + 2;
  const std::uint32_t block_style = from.u8();
  from.u8();  // the transform
  if (style.levels > kLevelsMax) refuse_jpeg2000("it has too many resolutions");
  if (style.block_across > 10 || style.block_down > 10 || style.block_across + style.block_down > 12) {
    refuse_jpeg2000("its blocks of code make no sense");
  }
  if (block_style & 0x40) refuse_jpeg2000("it is coded by the high-throughput coder");
  style.precincts.fill(0xFF);
  if (!has_precincts) return style;
  for (std::uint32_t r = 0; r <= style.levels; ++r) {
    style.precincts[r] = static_cast<std::uint8_t>(from.u8());
    const bool empty = style.precinct_across(r) == 0 || style.precinct_down(r) == 0;
    if (r > 0 && empty) refuse_jpeg2000("its precincts make no sense");
  }
  return style;
}

void read_main_segment(std::uint32_t marker, Jpeg2000Bytes segment, Codestream& stream, const Jpeg2000Image& image) {
  if (marker == kMarksCodingStyle) {
    const bool has_precincts = segment.u8() & 1;
    segment.u8();  // the order of packets
    stream.layers = segment.u16();
    segment.u8();  // whether components are transformed
    stream.style.fill(read_style(has_precincts, segment));
    if (stream.has_style || stream.layers == 0) refuse_jpeg2000("its coding style makes no sense");
    stream.has_style = true;
  } else if (marker == kMarksComponentCodingStyle) {
    const std::uint32_t component = segment.u8();
    if (!stream.has_style || component >= static_cast<std::uint32_t>(image.components)) {
      refuse_jpeg2000("its coding style makes no sense");
    }
    const bool has_precincts = segment.u8() & 1;
    stream.style[component] = read_style(has_precincts, segment);
  } else if (marker == kMarksProgressionChanges) {
    stream.progressions += static_cast<std::uint32_t>(segment.left() / 7);
  } else if (marker == kMarksExtensions ||
             (marker >= kMarksMultipleTransforms && marker <= kMarksLastMultipleTransforms) ||
             marker == kMarksPackedHeaders) {
    refuse_jpeg2000("it has parts of a rare kind");
  }
}

std::uint64_t shifted_up(std::uint64_t value, std::uint32_t bits) {
  return (value + (std::uint64_t{1} << bits) - 1) >> bits;
}

// Counts from above what a tile of the largest size is divided into.
void check_division(const Codestream& stream, const Jpeg2000Image& image) {
  std::uint64_t precincts = 0, precincts_max = 0, blocks = 0, samples = 0, resolutions_max = 0;
  std::uint32_t step_across = 63, step_down = 63;  // logarithms of the distance of precincts
  for (int c = 0; c < image.components; ++c) {
    const CodingStyle& style = stream.style[static_cast<std::size_t>(c)];
    const Jpeg2000Component& component = image.component[static_cast<std::size_t>(c)];
    const std::uint64_t width = stream.tile_width / static_cast<std::uint64_t>(component.across) + 1;
    const std::uint64_t height = stream.tile_height / static_cast<std::uint64_t>(component.down) + 1;
    samples += width * height;
    resolutions_max = std::max<std::uint64_t>(resolutions_max, style.levels + 1);
    for (std::uint32_t r = 0; r <= style.levels; ++r) {
      const std::uint32_t halvings = style.levels - r, across = style.precinct_across(r), down = style.precinct_down(r);
      const std::uint64_t columns = shifted_up(width, halvings), rows = shifted_up(height, halvings);
      const std::uint64_t here = (shifted_up(columns, across) + 1) * (shifted_up(rows, down) + 1);
      precincts += here;
      precincts_max = std::max(precincts_max, here);
      const std::uint32_t band = r > 0 ? 1 : 0;  // three bands of half the size, but for the smallest resolution
      const std::uint32_t block_across = std::min(style.block_across, across - band);
      const std::uint32_t block_down = std::min(style.block_down, down - band);
      blocks +=
          (band ? 3 : 1) * (shifted_up(columns, band + block_across) + 1) * (shifted_up(rows, band + block_down) + 1);
      step_across = std::min(step_across, across + halvings);
      step_down = std::min(step_down, down + halvings);
    }
  }
  const auto components = static_cast<std::uint64_t>(image.components);
  const std::uint64_t packets = precincts * stream.layers * stream.tiles;
  const std::uint64_t seen = precincts_max * resolutions_max * components * stream.layers;
  const std::uint64_t places = (shifted_up(stream.tile_width, step_across) + 1) *
                               (shifted_up(stream.tile_height, step_down) + 1) * components * resolutions_max *
                               stream.tiles * stream.progressions;
  const bool good = precincts <= kPacketsMax && packets <= kPacketsMax && seen <= kPacketsMax && places <= kPlacesMax &&
                    blocks <= kFreeBlocks + samples / kSamplesOfABlock &&
                    blocks * stream.tiles <= kFreeBlocksOfAll + samples * stream.tiles / kSamplesOfAnyBlock;
  if (!good) refuse_jpeg2000("it is divided too finely");
}

// From the first tile's part on: all parts are there, and none of them changes what was checked.
void check_tile_parts(Jpeg2000Bytes left, const Codestream& stream) {
  std::uint64_t begun = 0;
  while (left.left() >= 2 && left.u16() == kMarksStartOfTilePart) {
    if (left.u16() != 10) refuse_jpeg2000("its tiles make no sense");
    const std::uint32_t tile = left.u16();
    const std::uint64_t length = left.u32();
    const std::uint32_t part = left.u8();
    left.u8();  // how many parts there are
    if (tile >= stream.tiles || (length != 0 && length < 14)) refuse_jpeg2000("its tiles make no sense");
    if (part == 0) ++begun;
    Jpeg2000Bytes inside(left.take(length == 0 ? left.left() : static_cast<std::size_t>(length - 12)));
    for (std::uint32_t marker = inside.u16(); marker != kMarksStartOfData; marker = inside.u16()) {
      const bool changes = marker == kMarksCodingStyle || marker == kMarksComponentCodingStyle ||
                           marker == kMarksProgressionChanges || marker == kMarksTilePackedHeaders;
      if (changes || marker < 0xFF00) refuse_jpeg2000("its tiles have parts of a rare kind");
      const std::uint32_t size = inside.u16();
      if (size < 2) refuse_jpeg2000("its tiles make no sense");
      inside.take(size - 2);
    }
  }
  if (begun < stream.tiles) refuse_jpeg2000("it is truncated");
}

}  // namespace

void refuse_jpeg2000(std::string_view because) {
  fail(ErrorKind::kBadSample, "the JPEG 2000 data cannot be decoded: {}", because);
}

void read_codestream(Jpeg2000Image& image) {
  Jpeg2000Bytes left(image.codestream);
  if (left.u16() != kMarksStart || left.u16() != kMarksSize) refuse_jpeg2000("it has no codestream");
  const auto segment = [&] {
    const std::uint32_t size = left.u16();
    if (size < 2) refuse_jpeg2000("its header is damaged");
    return Jpeg2000Bytes(left.take(size - 2));
  };
  Codestream stream;
  read_size(segment(), stream, image);
  Jpeg2000Bytes tiles(left);
  for (std::uint32_t marker = left.u16(); marker != kMarksStartOfTilePart; marker = left.u16()) {
    if (marker < 0xFF00 || marker == kMarksSize) refuse_jpeg2000("its header is damaged");
    read_main_segment(marker, segment(), stream, image);
    tiles = left;
  }
  if (!stream.has_style) refuse_jpeg2000("it lacks its coding style");
  const std::uint64_t pixels = static_cast<std::uint64_t>(image.width) * static_cast<std::uint64_t>(image.height);
  if (stream.tiles > kFreeTiles + pixels / kPixelsOfATile) refuse_jpeg2000("it has too many tiles");
  check_division(stream, image);
  check_tile_parts(tiles, stream);
}

}  // namespace stoker
