// Shared by the kernels' tests.
#pragma once

#include "stoker/base/fenced_bytes_testing.h"
#include "stoker/base/isa_testing.h"
#include "stoker/base/noise_testing.h"
#include "stoker/ops/taps.h"
#include "stoker/tensor/image.h"

namespace stoker {

/// How the pixels of an image may lie in memory.
enum class Strides { kInterleaved, kPlanar, kMirrored, kTransposed, kReversedChannels };
constexpr Strides kAllStrides[] = {Strides::kInterleaved, Strides::kPlanar, Strides::kMirrored, Strides::kTransposed,
                                   Strides::kReversedChannels};

/// A view over width x height x channels bytes at `bytes`, without gaps.
template <typename Byte>
BasicImageView<Byte> view_of(Byte* bytes, int width, int height, int channels, Strides strides) {
  const std::ptrdiff_t w = width, h = height, c = channels;
  switch (strides) {
    case Strides::kInterleaved: return {bytes, width, height, channels, w * c, c, 1};
    case Strides::kPlanar: return {bytes, width, height, channels, w, 1, w * h};
    case Strides::kMirrored: return {bytes + (w - 1) * c, width, height, channels, w * c, -c, 1};
    case Strides::kTransposed: return {bytes, width, height, channels, c, h * c, 1};
    case Strides::kReversedChannels: return {bytes + c - 1, width, height, channels, w * c, c, -1};
  }
  return {};
}

/// Fenced pixels of noise, a third of them extreme.
class FencedImage {
 public:
  FencedImage(int width, int height, int channels, Strides strides, FencedBytes::Fence fence, std::uint32_t seed)
      : bytes_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * static_cast<std::size_t>(channels),
               fence),
        view_(view_of(bytes_.data(), width, height, channels, strides)) {
    Noise noise(seed);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        for (int c = 0; c < channels; ++c) {
          const int kind = noise.between(0, 5);
          *view_.at(x, y, c) = kind == 0 ? 0 : kind == 1 ? 255 : noise.byte();
        }
      }
    }
  }
  const MutableImageView& view() const { return view_; }

 private:
  FencedBytes bytes_;
  MutableImageView view_;
};

}  // namespace stoker
