// Images that are stored decoded, as npy arrays: nothing is decoded, the pixels are viewed in place.
#pragma once

#include "stoker/codec/image_decoder.h"

namespace stoker {

class RawDecoder final : public ImageDecoder {
 public:
  ImageFacts read_facts(Bytes encoded) override;
  /// The view is valid as long as `encoded`.
  ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {}) override;
};

}  // namespace stoker
