#include "stoker/codec/jpeg/jpeg_decoder.h"

#include "stoker/codec/jpeg/libjpeg/libjpeg_decoder.h"
#include "stoker/codec/jpeg/markers.h"

namespace stoker {

namespace {

// Nothing if libjpeg has the say, which it also has about files without an end.
std::optional<JpegHeader> own_header(Bytes encoded) {
  std::optional<JpegHeader> header = parse_jpeg_header(encoded);
  if (header && !has_jpeg_end(encoded, header->scan_begin)) header.reset();
  return header;
}

}  // namespace

JpegDecoder::JpegDecoder() : libjpeg_(std::make_unique<LibjpegDecoder>()) {}
JpegDecoder::~JpegDecoder() = default;

ImageFacts JpegDecoder::read_facts(Bytes encoded) {
  if (const std::optional<JpegHeader> header = own_header(encoded)) return header->facts();
  return libjpeg_->read_facts(encoded);
}

ImageView JpegDecoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points) {
  const std::optional<JpegHeader> header = own_header(encoded);
  if (header && makes_rgb_of(header->plane_sizes())) {
    if (const std::optional<Planes> planes = decode_own(encoded, facts, *header, window, entry_points, 1)) {
      return rgb_.convert(*planes, window);
    }
  }
  ++decodes_.by_library;
  return libjpeg_->decode_rgb(encoded, facts, window);
}

bool JpegDecoder::decodes_cleanly(Bytes encoded, const ImageFacts& facts, std::vector<std::uint8_t>& entry_points) {
  const std::optional<JpegHeader> header = own_header(encoded);
  if (header && own_.find_entry_points(encoded, *header, points_)) {
    pack_entry_points(points_, encoded.size(), entry_points);
    return true;
  }
  return libjpeg_->decodes_cleanly(encoded, facts, entry_points);
}

Planes JpegDecoder::plane_sizes(Bytes encoded, const ImageFacts& facts) {
  if (const std::optional<JpegHeader> header = own_header(encoded)) return header->plane_sizes();
  return libjpeg_->plane_sizes(encoded, facts);
}

Planes JpegDecoder::decode_planes(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points, int shrink) {
  if (const std::optional<JpegHeader> header = own_header(encoded)) {
    if (const std::optional<Planes> planes = decode_own(encoded, facts, *header, window, entry_points, shrink))
      return *planes;
  }
  ++decodes_.by_library;
  return libjpeg_->decode_planes(encoded, facts, window, {}, shrink);
}

// Nothing if libjpeg has the say.
std::optional<Planes> JpegDecoder::decode_own(Bytes encoded, const ImageFacts& facts, const JpegHeader& header,
                                              Rect window, Bytes entry_points, int shrink) {
  check_decode_request(facts, header.width, header.height, window);
  std::optional<Planes> planes;
  if (unpack(entry_points, encoded, header)) planes = own_.decode(encoded, header, window, &points_, shrink);
  if (planes) {
    ++decodes_.by_entry_points;
  } else {
    planes = own_.decode(encoded, header, window, nullptr, shrink);
  }
  if (planes) ++decodes_.own;
  return planes;
}

bool JpegDecoder::is_surely_good(Bytes encoded) {
  const std::optional<JpegHeader> header = parse_jpeg_header(encoded);
  return header && leads_to_jpeg_end(encoded, header->scan_begin);
}

// To points_; false if there are none, or they are not those of the file.
bool JpegDecoder::unpack(Bytes entry_points, Bytes encoded, const JpegHeader& header) {
  return !entry_points.empty() && unpack_entry_points(entry_points, encoded.size(), entry_point_count(header), points_);
}

const JpegWindow* JpegDecoder::find_window(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points,
                                           int shrink) {
  if (entry_points.empty()) return nullptr;
  header_ = own_header(encoded);
  if (!header_ || !unpack(entry_points, encoded, *header_)) return nullptr;
  check_decode_request(facts, header_->width, header_->height, window);
  window_ = own_.find_window(encoded, *header_, window, points_, shrink);
  return window_ ? &*window_ : nullptr;
}

}  // namespace stoker
