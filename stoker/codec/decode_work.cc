#include "stoker/codec/decode_work.h"

#include "stoker/codec/own_decoder.h"

namespace stoker {
namespace {

// What every JPEG takes before its first pixel: header and tables.
constexpr std::int64_t kJpegBegin = 4096;

std::int64_t pixels_of(int width, int height) { return std::int64_t{width} * height; }

}  // namespace

std::int64_t decode_work(const ImageFacts& facts, Rect window, bool by_entry_points) {
  switch (facts.codec) {
    case Codec::kPng:
    case Codec::kWebp: return pixels_of(facts.width, facts.height);  // all of it, whatever the window
    case Codec::kRaw:
    case Codec::kUnknown: return 0;  // used where it lies
    case Codec::kJpeg: break;
  }
  const std::int64_t made = pixels_of(window.width, window.height);
  if (by_entry_points && suits_own_decoder(facts)) return kJpegBegin + made;
  // The data are read from the image's beginning to the window's end, or to that of the last of several scans.
  const int rows = facts.coding == JpegCoding::kSequential ? window.y + window.height : facts.height;
  return kJpegBegin + made + pixels_of(facts.width, rows) / 2;
}

}  // namespace stoker
