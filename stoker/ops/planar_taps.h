// How planar mode resamples one image: for each plane and axis, which samples make each output and with what integer
// weights. docs/pixels.md is the definition; this applies it to a sampling map.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/ops/sampling_map.h"
#include "stoker/tensor/planes.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

/// Fractional bits of the weights: those of an output sum to 2^bits.
constexpr int kPlanarBits = 8;
constexpr int kPlanarCubicBits = 14;  // bicubic, whose weights may be negative
/// Bits kept between the two passes beyond the 8 of a sample, by bicubic alone.
constexpr int kPlanarCubicExtraBits = 6;

/// One axis of one plane. Reused from sample to sample without allocating.
struct PlanarAxisTaps {
  /// Weights are held for a multiple of so many outputs; those beyond the last repeat it.
  static constexpr int kGroup = 16;

  int length = 0;              // outputs of the axis
  int begin = 0, outputs = 0;  // outputs begin .. begin + outputs - 1 show the source, all others are padding
  int bits = kPlanarBits;
  int taps = 0;                      // weights per output; those unused are 0
  std::size_t stride = 0;            // from one tap's weights to the next tap's: `outputs` rounded up to kGroup
  std::vector<std::int32_t> first;   // by output that is shown: the first sample, counted from the plane's edge
  std::vector<std::int16_t> weight;  // taps x stride. One weight of 256 is always the first.

  /// The samples that any output reads: [source_begin, source_end). Empty if all is padding.
  int source_begin = 0, source_end = 0;

  /// `output` counts from `begin`.
  std::int16_t weight_of(int output, int tap) const {
    return weight[static_cast<std::size_t>(tap) * stride + static_cast<std::size_t>(output)];
  }

  Scratch sums;  // of the function that fills this
};

/// `axis` is that of the stored image, `factor` how many of its pixels a sample stands for, `whole_length` how many
/// samples the plane has, and `smooth` is the plane's. kPlanarCubicBits are for bicubic maps, kPlanarBits for all
/// others.
void build_planar_taps(const AxisMap& axis, Filter filter, int factor, int whole_length, bool smooth, int bits,
                       PlanarAxisTaps& taps);

/// Those of all planes of an image.
class PlanarTaps {
 public:
  /// `map` is in the axes of the stored image. Of `planes` only count, factors and whole sizes are looked at: what has
  /// to be decoded follows from this.
  void build(const SamplingMap& map, const Planes& planes);

  int width() const { return x(0).length; }
  int height() const { return y(0).length; }
  /// Planes of the result: those of the source, but 3 for a grey image that shows padding.
  int channels() const { return channels_; }
  bool cubic() const { return x(0).bits == kPlanarCubicBits; }

  const PlanarAxisTaps& x(int plane) const { return x_[same_x_[static_cast<std::size_t>(plane)]]; }
  const PlanarAxisTaps& y(int plane) const { return y_[same_y_[static_cast<std::size_t>(plane)]]; }
  /// The first plane whose taps along x (or y) are those of `plane`.
  int x_twin(int plane) const { return static_cast<int>(same_x_[static_cast<std::size_t>(plane)]); }
  int y_twin(int plane) const { return static_cast<int>(same_y_[static_cast<std::size_t>(plane)]); }

  /// The samples of a plane that are read; 0 x 0 if all is padding.
  Rect source(int plane) const;

  /// The colour of padding as Y, Cb, Cr.
  const std::array<std::uint8_t, 3>& fill() const { return fill_; }

 private:
  std::array<PlanarAxisTaps, 3> x_, y_;
  std::array<std::size_t, 3> same_x_{}, same_y_{};
  std::array<std::uint8_t, 3> fill_{};
  int channels_ = 0;
};

/// An RGB colour as JFIF's Y, Cb, Cr, each rounded to the nearest integer (halves up) and clamped.
std::array<std::uint8_t, 3> ycc_from_rgb(const std::array<std::uint8_t, 3>& rgb);

}  // namespace stoker
