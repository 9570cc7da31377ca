#include "stoker/codec/decode_memory.h"

#include <algorithm>

#include "stoker/codec/own_decoder.h"

namespace stoker {
namespace {

std::uint64_t area(int width, int height) {
  return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
}

// libjpeg keeps the coefficients of an image whose data come in several scans: 16 bits each, in whole blocks.
std::uint64_t jpeg_coefficients(const ImageFacts& facts) {
  if (facts.coding == JpegCoding::kSequential || facts.coding == JpegCoding::kNone) return 0;
  const std::uint64_t luma = area(facts.width + 16, facts.height + 16);
  const std::uint64_t chroma = luma / static_cast<std::uint64_t>(facts.chroma_across * facts.chroma_down);
  const bool two_luma = facts.components == 4;  // CMYK's black has the size of luma
  const std::uint64_t chromas = facts.components == 1 ? 0 : 2;
  return 2 * (luma * (two_luma ? 2 : 1) + chroma * chromas);
}

// The tables that giflib decodes by.
constexpr std::uint64_t kGiflib = 64 << 10;

// The window of Zstandard data, and the tables of other compressions; and a tile, which may be larger than the image.
constexpr std::uint64_t kLibtiff = 9 << 20;
constexpr int kTile = 1024;

// Tables, and the blocks of code that a small image may be divided into.
constexpr std::uint64_t kOpenjpeg = 4 << 20;

// The tables of an AV1 decoder, and its edges around a small picture.
constexpr std::uint64_t kAv1 = 8 << 20;

// An AV1 decoder holds its picture, grey or not, several times over: up to 16.2 bytes a pixel of 8 bits were measured,
// and 19.8 of 10. Alpha has a decoder of its own. A grid of many small pictures takes more, one decoder for each of
// them, and is rare.
std::uint64_t avif_pictures(const ImageFacts& facts) {
  const std::uint64_t pictures = facts.components % 2 == 0 ? 2 : 1;
  return pictures * (kAv1 + area(facts.width, facts.height) * (facts.bits_per_component > 8 ? 21 : 17));
}

}  // namespace

std::uint64_t decode_rgb_memory(const ImageFacts& facts, std::uint64_t encoded_bytes, Rect window) {
  const std::uint64_t all = area(facts.width, facts.height);
  std::uint64_t pixels = 0;  // as Scratch takes them
  std::uint64_t library = 0;
  switch (facts.codec) {
    case Codec::kJpeg:
      // Rows are decoded to the edges of blocks.
      pixels = area(window.width + 32, window.height) * (facts.components == 4 ? 4 : 3);
      library =
          suits_own_decoder(facts) ? decode_planes_memory(facts, encoded_bytes, window) : jpeg_coefficients(facts);
      break;
    case Codec::kPng: pixels = all * 3; break;
    case Codec::kWebp:
      pixels = all * 3;
      library = all * 4;  // a lossless image is decoded to ARGB first
      break;
    case Codec::kBmp:
      pixels = area(window.width, window.height) * 3 + all;  // run lengths are expanded to a byte per pixel
      break;
    case Codec::kPnm: pixels = area(window.width, window.height) * 3; break;
    case Codec::kGif:
      pixels = area(window.width, window.height) * 3 + all;
      library = kGiflib;
      break;
    case Codec::kTiff:
      pixels = area(window.width, window.height) * 3 +
               area(std::max(facts.width + 16, kTile), std::max(facts.height + 16, kTile)) *
                   static_cast<std::uint64_t>((facts.components + 1) * (facts.bits_per_component > 8 ? 2 : 1));
      library = kLibtiff + jpeg_coefficients(facts);
      break;
    case Codec::kJpeg2000:
      // openjpeg has 32 bits for each sample, of the image and of a tile, which may have half of it; and the coded
      // bytes.
      pixels = area(window.width, window.height) * 4;
      library = kOpenjpeg + all * static_cast<std::uint64_t>(facts.components * (facts.bits_per_component > 8 ? 8 : 7));
      break;
    case Codec::kAvif:
      pixels = all * 4;
      library = avif_pictures(facts);
      break;
    case Codec::kRaw:
    case Codec::kDatum:
    case Codec::kUnknown: break;  // used where it lies
  }
  return pixels + pixels / 4 + library;
}

std::uint64_t decode_cleanly_memory(const ImageFacts& facts, std::uint64_t encoded_bytes) {
  if (facts.codec != Codec::kJpeg) return decode_rgb_memory(facts, encoded_bytes, {0, 0, facts.width, facts.height});
  // Rows of libjpeg's, and the own decoder's scan with where its segments begin, in a list that grows by doubling.
  const std::uint64_t rows = area(facts.width + 64, 64) * (facts.components == 4 ? 4 : 3);
  const std::uint64_t scan =
      suits_own_decoder(facts) ? encoded_bytes + area(facts.width + 64, facts.height + 8) / 512 * 48 : 0;
  return rows + scan + scan / 4 + jpeg_coefficients(facts);
}

std::uint64_t decode_planes_memory(const ImageFacts& facts, std::uint64_t encoded_bytes, Rect window) {
  // Whole MCUs, of the full width where libjpeg decodes them; there each pixel has three samples at most.
  const bool own = suits_own_decoder(facts);
  const std::uint64_t luma = area((own ? window.width : facts.width) + 128, window.height + 64);
  const auto shared_by = static_cast<std::uint64_t>(own ? facts.chroma_across * facts.chroma_down : 1);
  const std::uint64_t planes = luma + (facts.components == 1 ? 0 : 2 * luma / shared_by);
  // The scan without its stuffing, and where its segments begin: each has 64 pixels of a row of blocks at least.
  const std::uint64_t scan = own ? encoded_bytes + area(facts.width + 64, facts.height + 8) / 512 * 16 : 0;
  return planes + planes / 4 + scan + scan / 4 + jpeg_coefficients(facts);
}

}  // namespace stoker
