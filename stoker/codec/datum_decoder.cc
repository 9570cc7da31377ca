#include "stoker/codec/datum_decoder.h"

#include <cstddef>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/tensor/raw_datum.h"

namespace stoker {
namespace {

RawDatum read_whole_datum(Bytes encoded) {
  const std::optional<RawDatum> datum = read_raw_datum(encoded);
  if (!datum) fail(ErrorKind::kBadSample, "the Datum is not a picture of 1 or 3 channels");
  const std::size_t data = encoded.size() - datum->data_offset;
  if (data < datum->data_bytes()) {
    fail(ErrorKind::kBadSample, "the Datum is truncated: its pixels need {}, but it has {}",
         byte_count(datum->data_bytes()), data);
  }
  return *datum;
}

}  // namespace

bool has_datum_header(Bytes encoded) { return read_raw_datum(encoded).has_value(); }

ImageFacts DatumDecoder::read_facts(Bytes encoded) {
  const RawDatum datum = read_whole_datum(encoded);
  return {.codec = Codec::kDatum, .width = datum.width, .height = datum.height, .components = datum.channels};
}

ImageView DatumDecoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes) {
  const RawDatum datum = read_whole_datum(encoded);
  check_decode_request(facts, datum.width, datum.height, window);
  const auto plane = static_cast<std::ptrdiff_t>(datum.plane_bytes());
  const bool grey = datum.channels == 1;  // which is all three colours
  const ImageView view{.pixels = encoded.data() + datum.data_offset + (grey ? 0 : 2 * plane),
                       .width = datum.width,
                       .height = datum.height,
                       .channels = 3,
                       .row_stride = datum.width,
                       .column_stride = 1,
                       .channel_stride = grey ? 0 : -plane};
  return view.crop(window);
}

}  // namespace stoker
