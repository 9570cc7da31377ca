// Erasing on a device: all steps of each of several finished tensors at a time.
#pragma once

#include <cstdint>

#include "stoker/base/host_device.h"
#include "stoker/ops/erase/erase_step.h"
#include "stoker/ops/kernels/device/device_color.h"

namespace stoker {

/// A tensor from which something is erased, and the steps that do it.
struct DeviceErased {
  std::int32_t slot;
  std::int32_t first_step, step_count;
};

/// Threads take pixels, blocks parts of a tensor: a pixel is written once, by the last step that erases it.
struct DeviceEraseKernel {
  struct Args {
    std::uint8_t* out;
    const DeviceErased* tensors;
    const EraseStep* steps;
    DeviceColor color;
    std::int32_t blocks_per_tensor;
  };
  struct Shared {};
  static constexpr int kThreads = 256, kPhases = 1, kPixelsPerThread = 4;

  static int blocks_per_tensor(const DeviceColor& color) {
    const std::int64_t pixels = std::int64_t{color.width} * color.height;
    return static_cast<int>((pixels + kThreads * kPixelsPerThread - 1) / (kThreads * kPixelsPerThread));
  }

  template <int kPhase>
  STOKER_HOST_DEVICE static void run(const Args& args, Shared&, int block, int thread) {
    const DeviceErased& tensor = args.tensors[block / args.blocks_per_tensor];
    const DeviceColor& color = args.color;
    const int pixels = color.width * color.height;
    int pixel = block % args.blocks_per_tensor * kThreads * kPixelsPerThread + thread;
    for (int i = 0; i < kPixelsPerThread && pixel < pixels; ++i, pixel += kThreads) {
      const int x = pixel % color.width, y = pixel / color.width;
      for (int s = tensor.first_step + tensor.step_count - 1; s >= tensor.first_step; --s) {
        const EraseStep& step = args.steps[s];
        if (!step.erases(x, y)) continue;
        for (int c = 0; c < 3; ++c) color.store(args.out, tensor.slot, x, y, c, step.value_at(x, y, c));
        break;
      }
    }
  }
};

}  // namespace stoker
