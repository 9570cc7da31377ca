// The part of one image's work that is left to the device: the form in which it crosses, and its place in the batch's
// memory there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "stoker/codec/jpeg/device_decode.h"
#include "stoker/device/device.h"
#include "stoker/ops/kernels/device/device_color.h"
#include "stoker/ops/kernels/device/device_planar.h"
#include "stoker/ops/kernels/device/device_rgb.h"

namespace stoker {

/// Coded samples, and the coefficients and planes that they become there: in scratch memory, from place 0 on until the
/// batch says where that is.
struct DeviceCodedImage {
  DeviceJpegImage jpeg;
  DevicePlanarImage planar;
  std::size_t scratch_bytes = 0;
};

/// What the planes of a file may take that is left to nvJPEG: the same for every batch, since pixels differ.
constexpr std::size_t kFileScratchMax = std::size_t{32} << 20;

/// A whole file for nvJPEG. Its planes are in scratch memory, too.
struct DeviceFileImage {
  DeviceDecode decode;         // without its places
  std::uint64_t samples[3]{};  // of each plane
  DevicePlanarImage planar;
  std::size_t scratch_bytes = 0;
};

/// Planes that another view of the same sample brings: one whose item is a coded image or a file.
struct DeviceSharedImage {
  DevicePlanarImage planar;
  std::size_t of = 0;  // that view's number in the plan
};

/// Nothing: the finished tensor crosses, or zeros do.
using DeviceItem = std::variant<std::monostate, DeviceCodedImage, DeviceFileImage, DeviceSharedImage, DevicePlanarImage,
                                DeviceRgbImage, DeviceResized>;

/// Memory of a batch for one item: what is written to `staging` will be at this place.
struct DeviceGrant {
  std::uint8_t* staging = nullptr;
  std::uint64_t place = 0;
};

constexpr std::size_t kDevicePlaceAlignment = 64;
/// From one place to the next, where so much is put at the first.
constexpr std::size_t device_place_bytes(std::size_t bytes) {
  return (bytes + kDevicePlaceAlignment - 1) / kDevicePlaceAlignment * kDevicePlaceAlignment;
}

}  // namespace stoker
