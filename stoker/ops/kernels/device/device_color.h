// The colour family on a device: 8-bit pixels or planes, resized already, to elements of finished tensors. The
// arithmetic of one pixel, and the grid kernel that does nothing else.
#pragma once

#include <cstdint>

#include "stoker/base/host_device.h"
#include "stoker/tensor/rounding.h"

namespace stoker {

struct ColorMap;
struct TensorFormat;

/// A view's color step, and where its tensors are.
struct DeviceColor {
  static constexpr int kChannels = 3;

  // Of planar mode, which has the faithful mode's map in scale and bias.
  float scale[kChannels], bias[kChannels], from_cb[kChannels], from_cr[kChannels], low[kChannels], high[kChannels];
  float rgb_bias[kChannels];  // of faithful mode, which knows a negative zero
  int from[kChannels];
  DType dtype;
  bool interleaved;          // rows x columns x 3, not 3 x rows x columns
  int width, height;         // of every tensor
  std::uint64_t out_begin;   // of the first slot's tensor, and
  std::uint64_t slot_bytes;  // from one to the next: those of a tensor, unless the caller says more

  DeviceColor() = default;
  DeviceColor(const ColorMap& map, const TensorFormat& format, int tensor_width, int tensor_height);

  std::uint64_t tensor_bytes() const {
    return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height) * kChannels * size_of(dtype);
  }

  STOKER_HOST_DEVICE void store(std::uint8_t* out, int slot, int x, int y, int channel, float value) const {
    const std::int64_t pixel = std::int64_t{y} * width + x, pixels = std::int64_t{width} * height;
    store_rounded(value, dtype, out + out_begin + slot_bytes * static_cast<std::uint64_t>(slot),
                  interleaved ? pixel * kChannels + channel : channel * pixels + pixel);
  }

  /// docs/pixels.md, step 7.
  STOKER_HOST_DEVICE void store_ycc(std::uint8_t* out, int slot, int x, int y, const int (&ycc)[3]) const {
    for (int c = 0; c < kChannels; ++c) {
      float value = static_cast<float>(ycc[0]) * scale[c] + bias[c];
      value = value + static_cast<float>(ycc[1] - 128) * from_cb[c];
      value = value + static_cast<float>(ycc[2] - 128) * from_cr[c];
      store(out, slot, x, y, c, value < low[c] ? low[c] : value > high[c] ? high[c] : value);
    }
  }

  STOKER_HOST_DEVICE void store_rgb(std::uint8_t* out, int slot, int x, int y, const int (&rgb)[3]) const {
    for (int c = 0; c < kChannels; ++c) {
      store(out, slot, x, y, c, static_cast<float>(rgb[from[c]]) * scale[c] + rgb_bias[c]);
    }
  }
};

/// What kernels are given that resample images of a batch and end in the color step.
template <class Image>
struct DeviceGeometryArgs {
  const std::uint8_t* memory;  // of the batch
  std::uint8_t* out;
  const Image* images;  // by first_block
  std::int32_t image_count;
  DeviceColor color;
};

/// An image of the tensors' size, at a place in the batch's memory on the device.
struct DeviceResized {
  std::uint64_t samples;
  std::int32_t slot;
  // Rows x columns x 3; planes Y, Cb, Cr one after another; planes R, G, B likewise.
  enum class Kind : std::uint8_t { kRgb, kYcc, kRgbPlanes } kind;
};

/// Threads take pixels, blocks parts of an image.
struct DeviceColorKernel {
  struct Args {
    const std::uint8_t* memory;  // of the batch
    std::uint8_t* out;
    const DeviceResized* images;
    DeviceColor color;
    int blocks_per_image;
  };
  struct Shared {};
  static constexpr int kThreads = 256, kPhases = 1, kPixelsPerThread = 4;

  static int blocks_per_image(const DeviceColor& color) {
    const std::int64_t pixels = std::int64_t{color.width} * color.height;
    return static_cast<int>((pixels + kThreads * kPixelsPerThread - 1) / (kThreads * kPixelsPerThread));
  }

  template <int kPhase>
  STOKER_HOST_DEVICE static void run(const Args& args, Shared&, int block, int thread) {
    const DeviceResized image = args.images[block / args.blocks_per_image];
    const std::uint8_t* const samples = args.memory + image.samples;
    const DeviceColor& color = args.color;
    const int pixels = color.width * color.height;
    int pixel = block % args.blocks_per_image * kThreads * kPixelsPerThread + thread;
    for (int i = 0; i < kPixelsPerThread && pixel < pixels; ++i, pixel += kThreads) {
      const bool interleaved = image.kind == DeviceResized::Kind::kRgb;
      int value[3];
      for (int c = 0; c < 3; ++c) value[c] = interleaved ? samples[3 * pixel + c] : samples[c * pixels + pixel];
      const int x = pixel % color.width, y = pixel / color.width;
      if (image.kind == DeviceResized::Kind::kYcc) {
        color.store_ycc(args.out, image.slot, x, y, value);
      } else {
        color.store_rgb(args.out, image.slot, x, y, value);
      }
    }
  }
};

}  // namespace stoker
