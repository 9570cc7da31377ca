// The picture family on a device: one pass over each of several pictures at a time, by the meaning of its steps.
#pragma once

#include <cstdint>

#include "stoker/base/host_device.h"
#include "stoker/ops/picture/picture_meaning.h"
#include "stoker/ops/picture/picture_pass.h"

namespace stoker {

/// A picture of a launch. Its pointers are into the device's memory.
struct DevicePicture {
  PicturePass pass;
  std::int32_t unit;           // PictureTraits::unit
  std::int32_t first_block;    // of those that compute it
  PictureStatistic statistic;  // of the pass

  STOKER_HOST_DEVICE int units_across() const { return (pass.width + unit - 1) / unit; }
  STOKER_HOST_DEVICE int units() const { return units_across() * ((pass.height + unit - 1) / unit); }
};

/// Counts each picture and derives the facts of its pass. Blocks take pictures.
struct DevicePictureFactsKernel {
  struct Args {
    const DevicePicture* pictures;
  };
  using Shared = PictureStatistics;
  static constexpr int kThreads = 256, kPhases = 4;

  static STOKER_HOST_DEVICE void add_one(std::uint32_t& count) {
#ifdef __CUDA_ARCH__
    atomicAdd(&count, 1U);
#else
    ++count;
#endif
  }

  template <int kPhase>
  STOKER_HOST_DEVICE static void run(const Args& args, Shared& shared, int block, int thread) {
    const PicturePass& pass = args.pictures[block].pass;
    if constexpr (kPhase == 0) {
      for (auto& counts : shared.counts) counts[thread] = 0;
    } else if constexpr (kPhase == 1) {
      const std::int64_t pixels = pass.pixels();
      const PictureStatistic statistic = args.pictures[block].statistic;
      if (statistic == PictureStatistic::kNothing) return;
      for (int c = 0; c < 3; ++c) {
        for (std::int64_t i = thread; i < pixels; i += kThreads) {
          add_one(shared.counts[c][counted_value(pass, statistic, i, c)]);
        }
      }
    } else if constexpr (kPhase == 2) {
      if (thread >= 3) return;
      shared.sums[thread] = 0;
      for (int value = 0; value < 256; ++value) {
        shared.sums[thread] += static_cast<std::uint64_t>(value) * shared.counts[thread][value];
      }
    } else {
      find_facts(pass, shared, thread, kThreads);
    }
  }
};

/// Threads take units, blocks parts of a picture. Units that are pixels have a kernel of their own, since others want
/// so many registers that few threads would run at once.
template <bool kPixels>
struct DevicePictureUnits {
  struct Args {
    const DevicePicture* pictures;  // by first_block
    std::int32_t count;
  };
  struct Shared {};
  static constexpr int kThreads = 256, kPhases = 1, kUnitsPerThread = 4;

  static int blocks(const DevicePicture& picture) {
    return (picture.units() + kThreads * kUnitsPerThread - 1) / (kThreads * kUnitsPerThread);
  }

  template <int kPhase>
  STOKER_HOST_DEVICE static void run(const Args& args, Shared&, int block, int thread) {
    const DevicePicture& picture = args.pictures[item_of_block(args.pictures, args.count, block)];
    const int units = picture.units(), across = picture.units_across();
    int unit = (block - picture.first_block) * kThreads * kUnitsPerThread + thread;
    for (int i = 0; i < kUnitsPerThread && unit < units; ++i, unit += kThreads) {
      if constexpr (kPixels) {
        compute_pixel(picture.pass, unit % across, unit / across);
      } else {
        compute_block(picture.pass, unit % across * picture.unit, unit / across * picture.unit);
      }
    }
  }
};

using DevicePictureKernel = DevicePictureUnits<true>;
using DevicePictureBlockKernel = DevicePictureUnits<false>;

}  // namespace stoker
