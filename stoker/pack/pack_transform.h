// Transforms a sample's image for packing: unchanged, or shrunk and encoded again, or stored as raw pixels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/codec/image_decoder.h"
#include "stoker/ops/geometry.h"
#include "stoker/ops/kernels/resample/resample.h"
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
  explicit PackTransform(const PackTransformOptions& options, const DecodeLimits& limits = {})
      : options_(options), limits_(limits), decoder_(std::in_place, limits) {}

  /// Replaces the bytes of a good sample's image, and names its field by what it is now: "jpg", "png", "npy" and so on.
  /// Throws kUsage for a sample with several images, where only one would change, and for one
  /// that has a field "npy" already where its pixels are to be stored raw.
  void apply(SweptSample& sample);
  /// Asks for the memory that apply() will take, before anything is done with the sample: what it lacks is then told
  /// of all of it.
  void ask_for_memory(const SweptSample& sample);
  /// Gives back the memory that was taken for the largest image so far.
  void drop_scratch();

 private:
  std::uint64_t memory_for(const ImageFacts& facts, std::uint64_t encoded_bytes, ImageSize made) const;
  bool shrinks(const ImageFacts& facts) const;
  bool changes(const ImageFacts& facts) const { return shrinks(facts) || options_.quality || options_.raw; }
  ImageSize size_of(const ImageFacts& facts) const;
  void encode(ImageView pixels, const ImageFacts& facts, SweptSample& sample, std::size_t field);
  ImageView resized(ImageView pixels, ImageSize size);
  ImageView interleaved(ImageView pixels);

  PackTransformOptions options_;
  DecodeLimits limits_;
  std::optional<AnyImageDecoder> decoder_;
  Resampler resampler_;
  AxisTaps taps_x_, taps_y_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace stoker
