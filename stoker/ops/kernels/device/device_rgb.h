// The geometry family on a device, faithful mode: a window of RGB to finished tensors, as Pillow resamples (8 bits
// between the passes). A block makes some rows of one image: the first pass leaves what the second needs in the memory
// that its threads share, all columns of the source rows under them, or of the finished rows all columns of the source.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/base/host_device.h"
#include "stoker/ops/kernels/device/device_color.h"
#include "stoker/ops/kernels/resample/resample_source.h"
#include "stoker/ops/pass_order.h"
#include "stoker/ops/taps.h"

namespace stoker {

struct DeviceRgbImage {
  /// AxisTaps in the batch's memory on the device.
  struct Taps {
    std::uint64_t first, count, weights;  // places: of int32
    std::int32_t taps_max;
  };
  std::uint64_t pixels;     // the place of the source's first, three bytes each
  std::int32_t row_stride;  // in bytes
  std::int32_t x, y;        // what is held begins there
  std::int32_t columns;     // of the source, that the vertical pass makes first; 0: it comes second
  std::int32_t slot;        // of the batch
  std::int32_t rows;        // that a block makes
  std::int32_t first_block;
  std::uint32_t source_bytes;  // pixels that are held
  Taps across, down;
  std::uint8_t fill[3];
};

struct DeviceRgbKernel {
  using Args = DeviceGeometryArgs<DeviceRgbImage>;
  static constexpr int kThreads = 256, kPhases = 2;
  static constexpr int kSharedBytes = 40 * 1024, kRowsMax = 8;
  struct Shared {
    std::uint8_t rows[kSharedBytes];
  };

  template <int kPhase>
  STOKER_HOST_DEVICE static void run(const Args& args, Shared& shared, int block, int thread) {
    const DeviceRgbImage& image = args.images[item_of_block(args.images, args.image_count, block)];
    const int first_row = (block - image.first_block) * image.rows;
    if (image.columns > 0) {
      run_vertical_first<kPhase>(args, image, shared, first_row, thread);
    } else {
      run_horizontal_first<kPhase>(args, image, shared, first_row, thread);
    }
  }

 private:
  struct Rows {
    int begin, end;  // of the source
  };

  template <int kPhase>
  STOKER_HOST_DEVICE static void run_horizontal_first(const Args& args, const DeviceRgbImage& image, Shared& shared,
                                                      int first_row, int thread) {
    const Rows source = rows_needed(args, image, first_row);
    const int width = args.color.width;
    if (kPhase == 0) {
      for (int i = thread; i < (source.end - source.begin) * width; i += kThreads) {
        const int row = i / width, x = i % width;
        const std::uint8_t* pixels =
            args.samples + image.pixels + std::int64_t{source.begin + row - image.y} * image.row_stride;
        weigh(args, image.across, x, pixels, image.x, 3, shared.rows + 3 * i);
      }
      return;
    }
    for (int i = thread; i < image.rows * width; i += kThreads) {
      const int x = i % width, y = first_row + i / width;
      if (y >= args.color.height) break;
      std::uint8_t result[3] = {image.fill[0], image.fill[1], image.fill[2]};
      if (shows(args, image, x, y)) weigh(args, image.down, y, shared.rows + 3 * x, source.begin, 3 * width, result);
      store(args, image, x, y, result);
    }
  }

  template <int kPhase>
  STOKER_HOST_DEVICE static void run_vertical_first(const Args& args, const DeviceRgbImage& image, Shared& shared,
                                                    int first_row, int thread) {
    const int columns = image.columns, width = args.color.width;
    const int rows = min_of(image.rows, args.color.height - first_row);
    if (kPhase == 0) {
      const std::uint8_t* const pixels = args.samples + image.pixels;
      for (int i = thread; i < rows * columns; i += kThreads) {
        weigh(args, image.down, first_row + i / columns, pixels + 3 * (i % columns), image.y, image.row_stride,
              shared.rows + 3 * i);
      }
      return;
    }
    for (int i = thread; i < rows * width; i += kThreads) {
      const int row = i / width, x = i % width, y = first_row + row;
      std::uint8_t result[3] = {image.fill[0], image.fill[1], image.fill[2]};
      if (shows(args, image, x, y)) {
        weigh(args, image.across, x, shared.rows + 3 * std::ptrdiff_t{row} * columns, image.x, 3, result);
      }
      store(args, image, x, y, result);
    }
  }

  STOKER_HOST_DEVICE static int min_of(int a, int b) { return a < b ? a : b; }

  /// False for padding.
  STOKER_HOST_DEVICE static bool shows(const Args& args, const DeviceRgbImage& image, int x, int y) {
    return at(args, image.across.count)[x] > 0 && at(args, image.down.count)[y] > 0;
  }

  STOKER_HOST_DEVICE static void store(const Args& args, const DeviceRgbImage& image, int x, int y,
                                       const std::uint8_t (&pixel)[3]) {
    const int rgb[3] = {pixel[0], pixel[1], pixel[2]};
    args.color.store_rgb(args.out, image.slot, x, y, rgb);
  }

  STOKER_HOST_DEVICE static const std::int32_t* at(const Args& args, std::uint64_t place) {
    return reinterpret_cast<const std::int32_t*>(args.memory + place);
  }

  /// What the rows of a block read.
  STOKER_HOST_DEVICE static Rows rows_needed(const Args& args, const DeviceRgbImage& image, int first_row) {
    const std::int32_t *first = at(args, image.down.first), *count = at(args, image.down.count);
    Rows rows{0, 0};
    for (int y = first_row; y < first_row + image.rows && y < args.color.height; ++y) {
      if (count[y] == 0) continue;
      if (rows.end == 0 || first[y] < rows.begin) rows.begin = first[y];
      if (first[y] + count[y] > rows.end) rows.end = first[y] + count[y];
    }
    return rows;
  }

  /// Three channels of an output; column (or row) `origin` of the source is at `from`, the next one `step` bytes
  /// further.
  STOKER_HOST_DEVICE static void weigh(const Args& args, const DeviceRgbImage::Taps& taps, int output,
                                       const std::uint8_t* from, int origin, int step, std::uint8_t* to) {
    const int count = at(args, taps.count)[output];
    const std::int32_t* const weights = at(args, taps.weights) + std::int64_t{output} * taps.taps_max;
    if (count == 0) return;
    from += std::int64_t{at(args, taps.first)[output] - origin} * step;
    std::int32_t sum[3] = {1 << (kTapBits - 1), 1 << (kTapBits - 1), 1 << (kTapBits - 1)};
    for (int tap = 0; tap < count; ++tap, from += step) {
      for (int c = 0; c < 3; ++c) sum[c] += weights[tap] * from[c];
    }
    for (int c = 0; c < 3; ++c) {
      const int value = sum[c] >> kTapBits;
      to[c] = static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
    }
  }
};

/// Bytes that the tables of an image's taps take in the batch's memory.
std::size_t device_taps_bytes(const AxisTaps& across, const AxisTaps& down);

/// Rows that a block can make; 0: the image is too large for the kernel.
int device_rows(const AxisTaps& across, const AxisTaps& down, PassOrder order);

/// Describes an image for the kernel, which it is not too large for. `source` says what is held of it, interleaved,
/// `pixels` at which place. Writes the tables to `to`, whose place is `place`, a multiple of kDeviceTableAlignment.
DeviceRgbImage describe_for_device(const ResampleSource& source, std::uint64_t pixels, const AxisTaps& across,
                                   const AxisTaps& down, PassOrder order, const std::array<std::uint8_t, 3>& fill,
                                   std::uint8_t* to, std::uint64_t place);

}  // namespace stoker
