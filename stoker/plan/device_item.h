// What of one image is left to the device: how it crosses, and where it lies in the batch's memory there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "stoker/codec/jpeg/device_decode.h"
#include "stoker/ops/kernels/device_color.h"
#include "stoker/ops/kernels/device_planar.h"
#include "stoker/ops/kernels/device_rgb.h"

namespace stoker {

/// Coded samples, and the planes that they become there.
struct DeviceCodedImage {
  DeviceJpegImage jpeg;
  DevicePlanarImage planar;
};

/// Nothing: the finished tensor crosses, or zeros do.
using DeviceItem = std::variant<std::monostate, DeviceCodedImage, DevicePlanarImage, DeviceRgbImage, DeviceResized>;

/// Memory of a batch for one item.
struct DeviceGrant {
  std::uint8_t* staging = nullptr;  // what is written here will be
  std::uint64_t place = 0;          // at this place, and
  std::uint64_t scratch = 0;        // at this one there is room for what the device makes in between
};

class DeviceRoom {
 public:
  virtual ~DeviceRoom() = default;
  /// Places are multiples of kDevicePlaceAlignment. False if so much must not be taken: the image is then to cross
  /// in a form that takes less, down to the resized one, for which there is always room.
  virtual bool grant(std::size_t bytes, std::size_t scratch_bytes, DeviceGrant& grant) = 0;
};

constexpr std::size_t kDevicePlaceAlignment = 64;

}  // namespace stoker
