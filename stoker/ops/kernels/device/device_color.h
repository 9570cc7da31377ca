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

  /// The three channels of a pixel: Y, Cb and Cr (docs/pixels.md, step 7) or R, G and B.
  STOKER_HOST_DEVICE void convert(bool is_ycc, const int (&pixel)[3], float (&result)[3]) const {
    for (int c = 0; c < kChannels; ++c) {
      if (is_ycc) {
        float value = static_cast<float>(pixel[0]) * scale[c] + bias[c];
        value = value + static_cast<float>(pixel[1] - 128) * from_cb[c];
        value = value + static_cast<float>(pixel[2] - 128) * from_cr[c];
        result[c] = value < low[c] ? low[c] : value > high[c] ? high[c] : value;
      } else {
        // Without an index that only a run tells: the pixel stays in registers.
        const int value = from[c] == 0 ? pixel[0] : from[c] == 1 ? pixel[1] : pixel[2];
        result[c] = static_cast<float>(value) * scale[c] + rgb_bias[c];
      }
    }
  }

  STOKER_HOST_DEVICE void store_ycc(std::uint8_t* out, int slot, int x, int y, const int (&ycc)[3]) const {
    store_pixel(out, slot, x, y, true, ycc);
  }
  STOKER_HOST_DEVICE void store_rgb(std::uint8_t* out, int slot, int x, int y, const int (&rgb)[3]) const {
    store_pixel(out, slot, x, y, false, rgb);
  }

 private:
  STOKER_HOST_DEVICE void store_pixel(std::uint8_t* out, int slot, int x, int y, bool is_ycc,
                                      const int (&pixel)[3]) const {
    float result[3];
    convert(is_ycc, pixel, result);
    for (int c = 0; c < kChannels; ++c) store(out, slot, x, y, c, result[c]);
  }
};

/// What kernels are given that resample images of a batch and end in the color step.
template <class Image>
struct DeviceGeometryArgs {
  const std::uint8_t* memory;   // of the batch
  const std::uint8_t* samples;  // the same, or scratch memory: images' samples have their places there
  std::uint8_t* out;
  const Image* images;  // by first_block
  std::int32_t image_count;
  DeviceColor color;
};

/// An image of the tensors' size, at a place in the batch's memory on the device.
struct DeviceResized {
  std::uint64_t samples;
  std::int32_t slot;
  // Rows x columns x 3; planes Y, Cb, Cr one after another; planes R, G, B in the same way.
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
    const int first = (block % args.blocks_per_image * kThreads + thread) * kPixelsPerThread;
    const int pixels = args.color.width * args.color.height;
    if (first >= pixels) return;
    const std::uint8_t* const samples = args.memory + image.samples;
    std::uint8_t* const out =
        args.out + args.color.out_begin + args.color.slot_bytes * static_cast<std::uint64_t>(image.slot);
    // Whole groups of pixels in words of their own, where they are.
    const auto misaligned = [](const void* place, unsigned unit) {
      return reinterpret_cast<std::uintptr_t>(place) % unit;
    };
    if (pixels % kPixelsPerThread == 0 && misaligned(samples, 4) == 0 && misaligned(out, 16) == 0) {
      convert_group(args.color, image.kind, samples, pixels, first, out);
    } else {
      for (int pixel = first; pixel < pixels && pixel < first + kPixelsPerThread; ++pixel) {
        convert(args.color, image.kind, samples, pixels, pixel, out);
      }
    }
  }

 private:
  using Kind = DeviceResized::Kind;

  STOKER_HOST_DEVICE static void convert(const DeviceColor& color, Kind kind, const std::uint8_t* samples, int pixels,
                                         int pixel, std::uint8_t* out) {
    int value[3];
    for (int c = 0; c < 3; ++c) value[c] = kind == Kind::kRgb ? samples[3 * pixel + c] : samples[c * pixels + pixel];
    float result[3];
    color.convert(kind == Kind::kYcc, value, result);
    for (int c = 0; c < 3; ++c) {
      store_rounded(result[c], color.dtype, out, color.interleaved ? 3 * pixel + c : c * pixels + pixel);
    }
  }

  STOKER_HOST_DEVICE static void convert_group(const DeviceColor& color, Kind kind, const std::uint8_t* samples,
                                               int pixels, int first, std::uint8_t* out) {
    std::uint8_t value[3 * kPixelsPerThread];  // as they lie in the source
    for (int i = 0; i < 3; ++i) {
      const std::uint8_t* const from = samples + (kind == Kind::kRgb ? 3 * first + 4 * i : i * pixels + first);
      memcpy(value + 4 * i, __builtin_assume_aligned(from, 4), 4);
    }
    float result[3 * kPixelsPerThread];  // as they lie in the tensor
    for (int pixel = 0; pixel < kPixelsPerThread; ++pixel) {
      int of_pixel[3];
      for (int c = 0; c < 3; ++c) of_pixel[c] = kind == Kind::kRgb ? value[3 * pixel + c] : value[4 * c + pixel];
      float converted[3];
      color.convert(kind == Kind::kYcc, of_pixel, converted);
      for (int c = 0; c < 3; ++c) result[color.interleaved ? 3 * pixel + c : 4 * c + pixel] = converted[c];
    }
    for (int i = 0; i < 3; ++i) {
      const std::int64_t index = color.interleaved ? 3 * std::int64_t{first} + 4 * i : std::int64_t{i} * pixels + first;
      store_four_rounded(result + 4 * i, color.dtype, out, index);
    }
  }
};

}  // namespace stoker
