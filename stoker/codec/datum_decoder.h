// Pictures that Caffe stores without encoding, as messages Datum: nothing is decoded, the planes are viewed in place.
#pragma once

#include "stoker/codec/image_decoder.h"

namespace stoker {

class DatumDecoder final : public ImageDecoder {
 public:
  ImageFacts read_facts(Bytes encoded) override;
  /// The view is valid as long as `encoded`.
  ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {}) override;
};

/// Whether the bytes begin as such a message.
bool has_datum_header(Bytes encoded);

}  // namespace stoker
