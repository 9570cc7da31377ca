// One pass over a picture: what the meaning, the CPU's kernels and the device's are all given. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/base/host_device.h"
#include "stoker/ops/picture/picture_step.h"

namespace stoker {

/// What was counted of the picture that a pass reads.
struct PictureStatistics {
  std::uint64_t sums[3];         // of each channel, where means are asked for
  std::uint32_t counts[3][256];  // of each value of each channel, where histograms are asked for; where extremes are,
                                 // it may be that only those were counted
};

/// What a pass derives from the statistics, once, before it computes pixels.
struct PictureFacts {
  std::uint8_t table[3][256];    // the new value for each old one, by channel
  float number[kPictureRunMax];  // of each step
};

struct PicturePass {
  const PictureStep* steps;
  int count;  // more than one is a run
  PictureFacts* facts;
  const std::uint8_t* in;
  std::uint8_t* out;        // the same as `in`, unless units read around themselves
  std::uint8_t* kept;       // pictures put aside by earlier steps
  std::size_t kept_stride;  // from one to the next
  std::uint8_t* work;       // what earlier steps passed on
  std::uint8_t* scratch;    // of the CPU's kernel; null elsewhere
  int width, height;        // of what is written, and
  int in_width, in_height;  // of what is read: only warps may make another size of it

  STOKER_HOST_DEVICE std::ptrdiff_t pixels() const { return std::ptrdiff_t{width} * height; }
  STOKER_HOST_DEVICE std::ptrdiff_t index(int x, int y, int channel) const {
    return channel * pixels() + std::ptrdiff_t{y} * width + x;
  }
  STOKER_HOST_DEVICE std::ptrdiff_t in_index(int x, int y, int channel) const {
    return channel * (std::ptrdiff_t{in_width} * in_height) + std::ptrdiff_t{y} * in_width + x;
  }
  STOKER_HOST_DEVICE int at(int x, int y, int channel) const { return in[in_index(x, y, channel)]; }
  STOKER_HOST_DEVICE void put(int x, int y, int channel, std::uint8_t value) const {
    out[index(x, y, channel)] = value;
  }
};

}  // namespace stoker
