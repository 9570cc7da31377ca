// What packing does to a sample's image: nothing, or a smaller one, encoded anew or stored as raw pixels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/codec/image_decoder.h"
#include "stoker/ops/kernels/resample.h"
#include "stoker/pack/sample_sweep.h"

namespace stoker {

struct PackTransformOptions {
  int resize_short = 0;          // images whose short side is longer are resized to it (bicubic, as Pillow); 0: none
  std::optional<int> quality{};  // encode every image as a JPEG of this quality
  bool raw = false;              // store pixels, as npy arrays of uint8

  bool changes_pixels() const { return resize_short > 0 || quality || raw; }
};

/// Quality of resized JPEGs where none is asked for.
inline constexpr int kDefaultQuality = 92;

/// One per thread.
class PackTransform {
 public:
  explicit PackTransform(const PackTransformOptions& options) : options_(options) {}

  /// Replaces the bytes of a good sample's image, and names its field by what it is now: "jpg", "png", "webp" or "npy".
  /// Throws kUsage for a sample with several images, where only one would change, and for one
  /// that has a field "npy" already where its pixels are to be stored raw.
  void apply(SweptSample& sample);

 private:
  void encode(ImageView pixels, const ImageFacts& facts, SweptSample& sample, std::size_t field);
  ImageView resized(ImageView pixels);
  ImageView interleaved(ImageView pixels);

  PackTransformOptions options_;
  AnyImageDecoder decoder_;
  Resampler resampler_;
  AxisTaps taps_x_, taps_y_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace stoker
