// One launch of a grid kernel, as data: the kernel, its arguments, the number of blocks. Back ends execute it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "stoker/codec/jpeg/device_decode.h"
#include "stoker/ops/kernels/device/device_color.h"
#include "stoker/ops/kernels/device/device_erase.h"
#include "stoker/ops/kernels/device/device_mix.h"
#include "stoker/ops/kernels/device/device_picture.h"
#include "stoker/ops/kernels/device/device_planar.h"
#include "stoker/ops/kernels/device/device_rgb.h"

namespace stoker {

/// All kernels there are: a launch names one by its place in the list.
template <class... Kernel>
struct KernelList {
  static constexpr int kCount = sizeof...(Kernel);

  template <class Wanted>
  static constexpr int number() {
    constexpr bool kSame[] = {std::is_same_v<Wanted, Kernel>...};
    int at = 0;
    while (!kSame[at]) ++at;
    return at;
  }

  /// By number, what `Make<Kernel>::function` is for each.
  template <template <class> class Make>
  static constexpr auto table() {
    return std::array{&Make<Kernel>::function...};
  }
};

using DeviceKernels = KernelList<DeviceJpegKernel, DeviceJpegTransformKernel, DevicePlanarKernel, DeviceRgbKernel,
                                 DeviceColorKernel, DevicePictureFactsKernel, DevicePictureKernel,
                                 DevicePictureBlockKernel, DeviceEraseKernel, DeviceMixKernel>;

struct DeviceLaunch {
  int kernel = 0;  // of DeviceKernels
  int blocks = 0;
  /// What it has to do at least: bytes of the device's memory, and of coded images.
  std::uint64_t bytes = 0, coded_bytes = 0;
  alignas(16) std::array<std::byte, kGridArgsMax> args{};

  template <class Kernel>
  static DeviceLaunch of(const typename Kernel::Args& kernel_args, int blocks) {
    static_assert(sizeof(kernel_args) <= kGridArgsMax);
    DeviceLaunch launch;
    launch.kernel = DeviceKernels::number<Kernel>();
    launch.blocks = blocks;
    std::memcpy(launch.args.data(), &kernel_args, sizeof(kernel_args));
    return launch;
  }
};

}  // namespace stoker
