// The batch family on a device: finished images of a batch are mixed where they lie.
#pragma once

#include <cstdint>

#include "stoker/base/host_device.h"
#include "stoker/ops/mix_element.h"

namespace stoker {

/// What becomes of the image in a slot.
struct DeviceMix {
  MixDraw mix;
  std::int32_t slot;
};

/// Blocks take a part of the images of a group, threads the elements of that part: each reads one element of every
/// image, and writes them.
struct DeviceMixKernel {
  static constexpr int kThreads = 256, kPhases = 1, kElementsPerThread = 4, kChannels = 3;

  struct Args {
    std::uint8_t* images;  // of slot 0
    std::uint64_t slot_bytes;
    const DeviceMix* mixes;  // one group after another
    std::int32_t group;
    DType dtype;
    bool interleaved;  // rows x columns x 3, not 3 x rows x columns
    std::int32_t width, height;
    std::int32_t blocks_per_group;
  };
  struct Shared {};

  static int blocks_per_group(std::int64_t width, std::int64_t height) {
    constexpr std::int64_t kEach = std::int64_t{kThreads} * kElementsPerThread;
    return static_cast<int>((width * height * kChannels + kEach - 1) / kEach);
  }

  template <int kPhase>
  STOKER_HOST_DEVICE static void run(const Args& args, Shared&, int block, int thread) {
    const DeviceMix* const mixes = args.mixes + std::int64_t{block / args.blocks_per_group} * args.group;
    const MixDraw* draws[kMixGroupMax] = {};
    std::uint8_t* tensors[kMixGroupMax] = {};
    for (int m = 0; m < args.group; ++m) {
      draws[m] = &mixes[m].mix;
      tensors[m] = args.images + args.slot_bytes * static_cast<std::uint64_t>(mixes[m].slot);
    }
    const std::int64_t pixels = std::int64_t{args.width} * args.height, elements = pixels * kChannels;
    std::int64_t index = std::int64_t{block % args.blocks_per_group} * kThreads * kElementsPerThread + thread;
    for (int i = 0; i < kElementsPerThread && index < elements; ++i, index += kThreads) {
      const auto pixel = static_cast<std::int32_t>(args.interleaved ? index / kChannels : index % pixels);
      mix_element(draws, tensors, args.group, args.dtype, index, pixel % args.width, pixel / args.width);
    }
  }
};

}  // namespace stoker
