// The geometry family on a device, planar mode: planes straight to finished tensors, both passes and the color step in
// one grid kernel. A block makes some rows of one image: the vertical pass leaves what they need of each plane in the
// memory that its threads share, and nothing in between ever reaches the device's main memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "stoker/base/host_device.h"
#include "stoker/ops/kernels/device/device_color.h"
#include "stoker/ops/planar_taps.h"

namespace stoker {

/// Rows of planes on a device begin at multiples of so many bytes, and so do they end.
constexpr std::size_t kDeviceRowAlignment = 16;

/// PlanarAxisTaps in the batch's memory on the device.
struct DeviceTaps {
  std::uint64_t first, weights;  // places: int32 [outputs], int16 [taps][stride]
  std::int32_t begin, outputs, taps, stride;
};

struct DevicePlanarImage {
  struct Plane {
    std::uint64_t samples;     // the place of the one at (x, y)
    std::int32_t row_stride;   // a multiple of kDeviceRowAlignment
    std::int32_t x, y;         // what is held begins there
    std::int32_t first_group;  // of four columns of what is held, that any output reads
    std::int32_t groups;
    DeviceTaps across, down;
  };
  Plane plane[3];
  std::int32_t planes;         // 3; 1: grey; 0: all is padding
  std::int32_t slot;           // of the batch
  std::int32_t width, height;  // as the image is stored
  std::int32_t rows;           // that a block makes
  std::int32_t first_block;
  std::uint32_t source_bytes;  // samples that are read
  std::uint8_t fill[3];
  bool cubic, transposed;  // the result is to be
};

struct DevicePlanarKernel {
  using Args = DeviceGeometryArgs<DevicePlanarImage>;
  static constexpr int kThreads = 256, kPhases = 2;
  static constexpr int kSharedBytes = 32 * 1024, kRowsMax = 8;
  struct Shared {
    alignas(16) std::uint8_t rows[kSharedBytes];  // of the planes one after another
  };

  template <int kPhase>
  STOKER_HOST_DEVICE static void run(const Args& args, Shared& shared, int block, int thread) {
    const DevicePlanarImage& image = args.images[item_of_block(args.images, args.image_count, block)];
    const int first_row = (block - image.first_block) * image.rows;
    if (kPhase == 0) {
      vertical_pass(args, image, shared, first_row, thread);
    } else {
      horizontal_pass(args, image, shared, first_row, thread);
    }
  }

 private:
  /// Bytes of a row of a plane in shared memory.
  STOKER_HOST_DEVICE static int row_bytes(const DevicePlanarImage& image, const DevicePlanarImage::Plane& plane) {
    return plane.groups * 4 * (image.cubic ? 2 : 1);
  }

  template <typename T>
  STOKER_HOST_DEVICE static const T* at(const Args& args, std::uint64_t place) {
    return reinterpret_cast<const T*>(args.memory + place);
  }

  STOKER_HOST_DEVICE static void vertical_pass(const Args& args, const DevicePlanarImage& image, Shared& shared,
                                               int first_row, int thread) {
    std::uint8_t* to = shared.rows;
    for (int p = 0; p < image.planes; ++p) {
      const DevicePlanarImage::Plane& plane = image.plane[p];
      const DeviceTaps& taps = plane.down;
      for (int i = thread; i < image.rows * plane.groups; i += kThreads) {
        const int row = i / plane.groups, group = i % plane.groups;
        const int output = first_row + row - taps.begin;
        if (output < 0 || output >= taps.outputs) continue;
        const int first = at<std::int32_t>(args, taps.first)[output] - plane.y;
        const std::uint8_t* source = args.samples + plane.samples + std::int64_t{first} * plane.row_stride +
                                     std::int64_t{plane.first_group + group} * 4;
        const std::int16_t* weight = at<std::int16_t>(args, taps.weights) + output;
        std::uint8_t* const result = to + i * (image.cubic ? 8 : 4);
        if (image.cubic) {
          weigh_rows_cubic(source, plane.row_stride, weight, taps, reinterpret_cast<std::int16_t*>(result));
        } else {
          weigh_rows(source, plane.row_stride, weight, taps, result);
        }
      }
      to += image.rows * row_bytes(image, plane);
    }
  }

  STOKER_HOST_DEVICE static std::uint32_t load_four(const std::uint8_t* from) {
    std::uint32_t four;
    memcpy(&four, __builtin_assume_aligned(from, sizeof(four)), sizeof(four));
    return four;
  }

  // Weights of 256 together, none negative: sums of two samples fit one word.
  STOKER_HOST_DEVICE static void weigh_rows(const std::uint8_t* source, std::int32_t stride, const std::int16_t* weight,
                                            const DeviceTaps& taps, std::uint8_t* result) {
    std::uint32_t even = 0x00800080, odd = 0x00800080;  // halves, for rounding
    for (int tap = 0; tap < taps.taps; ++tap, weight += taps.stride) {
      const auto w = static_cast<std::uint32_t>(*weight);
      if (w == 0) continue;  // beyond the last one there may be no row
      const std::uint32_t four = load_four(source + std::int64_t{tap} * stride);
      even += (four & 0x00FF00FF) * w;
      odd += (four >> 8 & 0x00FF00FF) * w;
    }
    const std::uint32_t four = (even >> 8 & 0x00FF00FF) | (odd & 0xFF00FF00);
    memcpy(__builtin_assume_aligned(result, sizeof(four)), &four, sizeof(four));
  }

  // Samples less 128, so that what is kept fits 16 bits.
  STOKER_HOST_DEVICE static void weigh_rows_cubic(const std::uint8_t* source, std::int32_t stride,
                                                  const std::int16_t* weight, const DeviceTaps& taps,
                                                  std::int16_t* result) {
    std::int32_t sum[4] = {128, 128, 128, 128};
    for (int tap = 0; tap < taps.taps; ++tap, weight += taps.stride) {
      const std::int32_t w = *weight;
      if (w == 0) continue;
      const std::uint32_t four = load_four(source + std::int64_t{tap} * stride);
      for (int i = 0; i < 4; ++i) sum[i] += w * (static_cast<std::int32_t>(four >> 8 * i & 255) - 128);
    }
    for (int i = 0; i < 4; ++i)
      result[i] = static_cast<std::int16_t>(sum[i] >> (kPlanarCubicBits - kPlanarCubicExtraBits));
  }

  STOKER_HOST_DEVICE static void horizontal_pass(const Args& args, const DevicePlanarImage& image, const Shared& shared,
                                                 int first_row, int thread) {
    const DeviceTaps& down = image.plane[0].down;
    const DeviceTaps& across = image.plane[0].across;
    for (int i = thread; i < image.rows * image.width; i += kThreads) {
      const int row = i / image.width, x = i % image.width, y = first_row + row;
      if (y >= image.height) break;
      const bool padding = image.planes == 0 || y < down.begin || y >= down.begin + down.outputs || x < across.begin ||
                           x >= across.begin + across.outputs;
      int ycc[3] = {image.fill[0], image.fill[1], image.fill[2]};
      if (!padding) {
        const std::uint8_t* from = shared.rows;
        for (int p = 0; p < image.planes; ++p) {
          const DevicePlanarImage::Plane& plane = image.plane[p];
          const int bytes = row_bytes(image, plane);
          ycc[p] = weigh_columns(args, image, plane, from + row * bytes, x - plane.across.begin);
          from += image.rows * bytes;
        }
        for (int p = image.planes; p < 3; ++p) ycc[p] = 128;
      }
      if (image.transposed) {
        args.color.store_ycc(args.out, image.slot, y, x, ycc);
      } else {
        args.color.store_ycc(args.out, image.slot, x, y, ycc);
      }
    }
  }

  STOKER_HOST_DEVICE static int weigh_columns(const Args& args, const DevicePlanarImage& image,
                                              const DevicePlanarImage::Plane& plane, const std::uint8_t* row,
                                              int output) {
    const DeviceTaps& taps = plane.across;
    const int first = at<std::int32_t>(args, taps.first)[output] - plane.x - 4 * plane.first_group;
    const std::int16_t* weight = at<std::int16_t>(args, taps.weights) + output;
    std::int32_t sum = image.cubic ? 1 << 19 : 128;
    for (int tap = 0; tap < taps.taps; ++tap, weight += taps.stride) {
      const std::int32_t w = *weight;
      if (w == 0) continue;
      sum += w * (image.cubic ? reinterpret_cast<const std::int16_t*>(row)[first + tap] : row[first + tap]);
    }
    if (!image.cubic) return sum >> 8;
    const int value = (sum >> 20) + 128;
    return value < 0 ? 0 : value > 255 ? 255 : value;
  }
};

/// Bytes that the tables of an image's taps take in the batch's memory.
std::size_t device_taps_bytes(const PlanarTaps& taps);

/// Rows that a block can make; 0: the image is too large for the kernel. Of `planes` what is held of each is looked at.
int device_rows(const Planes& planes, const PlanarTaps& taps);

/// Describes an image for the kernel, which it is not too large for. `planes` say what is held of each plane, `samples`
/// at which place. Writes the tables to `to`, whose place is `place`, a multiple of kDeviceTableAlignment.
DevicePlanarImage describe_for_device(const Planes& planes, const std::uint64_t (&samples)[3], const PlanarTaps& taps,
                                      std::uint8_t* to, std::uint64_t place);

}  // namespace stoker
