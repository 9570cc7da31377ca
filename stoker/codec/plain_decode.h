// Whole images decoded without any shortcut: what the fast paths are checked against.
#pragma once

#include <vector>

#include "stoker/codec/image_decoder.h"

namespace stoker {

struct PlainImage {
  ImageFacts facts;
  std::vector<std::uint8_t> rgb;  // height x width x 3
};

/// Throws as ImageDecoder does.
PlainImage decode_plain_rgb(Bytes encoded, const DecodeLimits& limits = {});

}  // namespace stoker
