#include "stoker/codec/image_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/codec/avif/avif_decoder.h"
#include "stoker/codec/bmp_decoder.h"
#include "stoker/codec/datum_decoder.h"
#include "stoker/codec/gif_decoder.h"
#include "stoker/codec/jpeg/jpeg_decoder.h"
#include "stoker/codec/jpeg2000/jpeg2000_decoder.h"
#include "stoker/codec/jpeg2000/jpeg2000_file.h"
#include "stoker/codec/npy.h"
#include "stoker/codec/png_decoder.h"
#include "stoker/codec/pnm_decoder.h"
#include "stoker/codec/raw_decoder.h"
#include "stoker/codec/tiff/tiff_decoder.h"
#include "stoker/codec/tiff/tiff_file.h"
#include "stoker/codec/webp_decoder.h"
#include "stoker/tensor/avif_magic.h"
#include "stoker/tensor/pnm_header.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

struct Opening {
  std::size_t at;
  std::string_view bytes, name;
};

constexpr Opening kOpenings[] = {
    {4, "ftyphei"sv, "a HEIF image"},     {4, "ftyphev"sv, "a HEIF image"},     {4, "ftypmif"sv, "a HEIF image"},
    {4, "ftypmsf"sv, "a HEIF image"},     {0, "\xFF\x0A"sv, "a JPEG XL image"}, {4, "JXL \r\n"sv, "a JPEG XL image"},
    {0, "8BPS"sv, "a Photoshop image"},   {0, "%PDF"sv, "a PDF document"},      {0, "<html"sv, "an HTML page"},
    {0, "<!DOCTYPE"sv, "an HTML page"},   {0, "<?xml"sv, "an XML document"},    {0, "\x1F\x8B"sv, "gzip data"},
    {0, "PK\x03\x04"sv, "a ZIP archive"},
};

bool is_text(std::uint8_t byte) {
  return (byte >= 0x20 && byte < 0x7F) || byte == '\t' || byte == '\n' || byte == '\r';
}

/// "it is empty (0 bytes)", "it looks like a GIF image", "it looks like text", "its first bytes are 00 11 22 33".
std::string describe_first_bytes(Bytes encoded) {
  if (encoded.empty()) return "it is empty (0 bytes)";
  const std::string_view text = as_text(encoded);
  for (const Opening& opening : kOpenings) {
    if (text.size() >= opening.at && text.substr(opening.at).starts_with(opening.bytes)) {
      return fmt::format("it looks like {}", opening.name);
    }
  }
  const Bytes first = encoded.first(std::min<std::size_t>(encoded.size(), 64));
  if (std::all_of(first.begin(), first.end(), is_text)) return "it looks like text";
  return fmt::format("its first bytes are {:02x}", fmt::join(first.first(std::min<std::size_t>(first.size(), 8)), " "));
}

}  // namespace

Codec detect_codec(Bytes encoded) {
  const std::string_view text = as_text(encoded);
  if (text.starts_with("\xFF\xD8\xFF"sv)) return Codec::kJpeg;
  if (text.starts_with("\x89PNG\r\n\x1A\n"sv)) return Codec::kPng;
  if (text.starts_with("RIFF"sv) && text.size() >= 12 && text.substr(8, 4) == "WEBP"sv) return Codec::kWebp;
  if (has_npy_magic(encoded)) return Codec::kRaw;
  if (has_bmp_magic(encoded)) return Codec::kBmp;
  if (text.starts_with("GIF87a"sv) || text.starts_with("GIF89a"sv)) return Codec::kGif;
  if (has_datum_header(encoded)) return Codec::kDatum;
  if (has_tiff_magic(encoded)) return Codec::kTiff;
  if (has_jpeg2000_magic(encoded)) return Codec::kJpeg2000;
  if (has_avif_magic(encoded)) return Codec::kAvif;
  if (has_pnm_magic(encoded)) return Codec::kPnm;
  return Codec::kUnknown;
}

DecodeLimits DecodeLimits::up_to(std::int64_t pixels) {
  DecodeLimits limits;
  limits.pixels_max = pixels;
  if (pixels > limits.bytes_max / 3) limits.bytes_max = pixels > INT64_MAX / 4 ? INT64_MAX : 4 * pixels;
  return limits;
}

void refuse_colors_of_mask() {
  fail(ErrorKind::kBadSample,
       "the mask has colours, but each of its pixels must be a number; codes='rgb' makes a number of each colour");
}

void refuse_as_mask() {
  fail(ErrorKind::kBadSample,
       "it is not a mask: that is a PNG, TIFF, BMP, GIF or PNM, or an npy array of whole numbers");
}

MaskPixels ImageDecoder::decode_numbers(Bytes, const ImageFacts&) { refuse_as_mask(); }

Planes ImageDecoder::plane_sizes(Bytes, const ImageFacts&) { return {}; }

const JpegWindow* ImageDecoder::find_window(Bytes, const ImageFacts&, Rect, Bytes, int) { return nullptr; }

bool ImageDecoder::is_surely_good(Bytes) { return false; }

bool ImageDecoder::decodes_cleanly(Bytes encoded, const ImageFacts& facts, std::vector<std::uint8_t>&) {
  decode_rgb(encoded, facts, {0, 0, facts.width, facts.height});
  return true;
}

Planes ImageDecoder::decode_planes(Bytes, const ImageFacts&, Rect, Bytes, int) {
  fail(ErrorKind::kUsage, "the image has no planes that could be resampled one by one");
}

void check_decode_request(const ImageFacts& facts, int header_width, int header_height, Rect window) {
  if (header_width != facts.width || header_height != facts.height) {
    fail(ErrorKind::kBadSample,
         "the image's header says {} x {} pixels where {} x {} were expected: the file has changed", header_width,
         header_height, facts.width, facts.height);
  }
  const bool inside = window.x >= 0 && window.y >= 0 && window.width > 0 && window.height > 0 &&
                      window.width <= facts.width - window.x && window.height <= facts.height - window.y;
  if (!inside) {
    fail(ErrorKind::kUsage, "the window of {} x {} pixels at ({}, {}) does not lie within the image of {} x {}",
         window.width, window.height, window.x, window.y, facts.width, facts.height);
  }
}

void check_sides(std::int64_t width, std::int64_t height, const DecodeLimits& limits) {
  if (width <= limits.side_max && height <= limits.side_max) return;
  fail(ErrorKind::kLimit,
       "the image of {} x {} pixels has a side above the limit of {}; shrink it, or cut it into several images", width,
       height, limits.side_max);
}

void check_limits(const ImageFacts& facts, const DecodeLimits& limits) {
  check_sides(facts.width, facts.height, limits);
  const std::int64_t pixels = std::int64_t{facts.width} * facts.height;
  if (pixels > limits.pixels_max) {
    fail(ErrorKind::kLimit,
         "the image of {} x {} pixels is above the limit of {} pixels; to take it, set pixels_max (--pixels-max) to {}",
         facts.width, facts.height, limits.pixels_max, pixels);
  }
  if (pixels * 3 > limits.bytes_max) {
    fail(ErrorKind::kLimit, "the image of {} x {} pixels would take {} bytes decoded, above the limit of {}",
         facts.width, facts.height, pixels * 3, limits.bytes_max);
  }
}

AnyImageDecoder::AnyImageDecoder(DecodeLimits limits) : limits_(limits) {}
AnyImageDecoder::~AnyImageDecoder() = default;

ImageDecoder& AnyImageDecoder::decoder_for(Codec codec) {
  switch (codec) {
    case Codec::kJpeg:
      if (!jpeg_) jpeg_ = std::make_unique<JpegDecoder>();
      return *jpeg_;
    case Codec::kPng:
      if (!png_) png_ = std::make_unique<PngDecoder>(limits_);
      return *png_;
    case Codec::kWebp:
      if (!webp_) webp_ = std::make_unique<WebpDecoder>();
      return *webp_;
    case Codec::kRaw:
      if (!raw_) raw_ = std::make_unique<RawDecoder>();
      return *raw_;
    case Codec::kBmp:
      if (!bmp_) bmp_ = std::make_unique<BmpDecoder>();
      return *bmp_;
    case Codec::kGif:
      if (!gif_) gif_ = std::make_unique<GifDecoder>();
      return *gif_;
    case Codec::kDatum:
      if (!datum_) datum_ = std::make_unique<DatumDecoder>();
      return *datum_;
    case Codec::kTiff:
      if (!tiff_) tiff_ = std::make_unique<TiffDecoder>();
      return *tiff_;
    case Codec::kJpeg2000:
      if (!jpeg2000_) jpeg2000_ = std::make_unique<Jpeg2000Decoder>();
      return *jpeg2000_;
    case Codec::kAvif:
      if (!avif_) avif_ = std::make_unique<AvifDecoder>();
      return *avif_;
    case Codec::kPnm:
      if (!pnm_) pnm_ = std::make_unique<PnmDecoder>();
      return *pnm_;
    case Codec::kUnknown: break;
  }
  fail(ErrorKind::kUsage, "there is no decoder for an unknown codec: read the image's facts first");
}

ImageFacts AnyImageDecoder::read_facts(Bytes encoded) {
  const Codec codec = detect_codec(encoded);
  if (codec == Codec::kUnknown) {
    fail(ErrorKind::kBadSample, "this is not a JPEG, PNG, WebP, BMP, GIF, PNM, TIFF, JPEG 2000 or AVIF image: {}",
         describe_first_bytes(encoded));
  }
  const ImageFacts facts = decoder_for(codec).read_facts(encoded);
  check_limits(facts, limits_);
  return facts;
}

ImageView AnyImageDecoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points) {
  check_limits(facts, limits_);
  return decoder_for(facts.codec).decode_rgb(encoded, facts, window, entry_points);
}

MaskPixels AnyImageDecoder::decode_numbers(Bytes encoded, const ImageFacts& facts) {
  check_limits(facts, limits_);
  return decoder_for(facts.codec).decode_numbers(encoded, facts);
}

bool AnyImageDecoder::decodes_cleanly(Bytes encoded, const ImageFacts& facts, std::vector<std::uint8_t>& entry_points) {
  check_limits(facts, limits_);
  return decoder_for(facts.codec).decodes_cleanly(encoded, facts, entry_points);
}

Planes AnyImageDecoder::plane_sizes(Bytes encoded, const ImageFacts& facts) {
  check_limits(facts, limits_);
  return decoder_for(facts.codec).plane_sizes(encoded, facts);
}

Planes AnyImageDecoder::decode_planes(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points,
                                      int shrink) {
  check_limits(facts, limits_);
  return decoder_for(facts.codec).decode_planes(encoded, facts, window, entry_points, shrink);
}

const JpegWindow* AnyImageDecoder::find_window(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points,
                                               int shrink) {
  check_limits(facts, limits_);
  return decoder_for(facts.codec).find_window(encoded, facts, window, entry_points, shrink);
}

bool AnyImageDecoder::is_surely_good(Bytes encoded) {
  return decoder_for(detect_codec(encoded)).is_surely_good(encoded);
}

PlaneDecodes AnyImageDecoder::plane_decodes() const { return jpeg_ ? jpeg_->plane_decodes() : PlaneDecodes(); }

}  // namespace stoker
