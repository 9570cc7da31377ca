// Decodes whole images without any shortcut: the reference for the fast paths.
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

/// One component of a JPEG, as it is coded.
struct PlainPlane {
  int width = 0, height = 0;
  int across = 1, down = 1;  // pixels that share a sample
  std::vector<std::uint8_t> samples;
  bool smooth = true;  // Plane
};

/// Nothing for images that have no planes which could be resampled one by one. libjpeg decodes at 1 / `shrink` of the
/// size. Throws as ImageDecoder does.
std::vector<PlainPlane> decode_plain_planes(Bytes encoded, const DecodeLimits& limits = {}, int shrink = 1);

}  // namespace stoker
