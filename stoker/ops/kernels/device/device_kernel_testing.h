// Shared by tests of the device's pixel kernels: the memory of a batch on a device, and the tensors that one launch
// writes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "stoker/base/fenced_bytes_testing.h"
#include "stoker/base/host_device_testing.h"
#include "stoker/ops/color_map.h"
#include "stoker/ops/kernels/device/device_color.h"

namespace stoker {

/// Maps whose results are fractions, negative, or beyond what u8 and f16 hold; and the plain one.
inline ColorMap test_color(std::uint32_t seed) {
  ColorMap color;
  switch (seed % 4) {
    case 1:
      color.from = {2, 0, 1};
      color.scale = {0.017f, -0.0175f, 1.0f};
      color.bias = {-2.1f, 0.25f, -0.0f};
      break;
    case 2:
      color.scale = {1 / (255 * 0.229f), 1 / (255 * 0.224f), 1 / (255 * 0.225f)};
      color.bias = {-0.485f / 0.229f, -0.456f / 0.224f, -0.406f / 0.225f};
      break;
    case 3:
      color.from = {0, 2, 1};
      color.scale = {3.0f, -2.0f, 1e30f};
      color.bias = {-100.0f, 300.0f, -1e32f};
      break;
    default: break;
  }
  return color;
}

inline TensorFormat test_format(std::uint32_t seed) {
  constexpr DType kDTypes[] = {DType::kF32, DType::kU8, DType::kF16, DType::kBF16};
  return {kDTypes[seed % 4], seed / 4 % 2 == 0 ? Layout::kNhwc : Layout::kNchw};
}

/// The tensors of a batch, of which a launch writes some: what it has to leave alone is looked at, too.
class LaunchedTensors {
 public:
  LaunchedTensors(ColorMap map, TensorFormat format, int width, int height, int slots, FencedBytes::Fence fence)
      : map_(map),
        format_(format),
        color_(map, format, width, height),
        want_(kBefore + color_.slot_bytes * static_cast<std::size_t>(slots), kUntouched),
        out_(want_.size(), fence) {
    color_.out_begin = kBefore;
  }

  const ColorMap& map() const { return map_; }
  TensorFormat format() const { return format_; }
  const DeviceColor& color() const { return color_; }
  std::uint8_t* out() const { return out_.data(); }

  /// Where a slot's tensor is to be written by the CPU.
  std::uint8_t* want(int slot) { return want_.data() + kBefore + color_.slot_bytes * static_cast<std::size_t>(slot); }

  /// Runs it in order, and in two others.
  template <class Kernel>
  void expect_from(const typename Kernel::Args& args, int blocks, const std::string& what) {
    for (const std::uint32_t order : {0U, 1U, 2U}) {
      std::memset(out_.data(), kUntouched, want_.size());
      run_grid<Kernel>(args, blocks, order);
      if (std::memcmp(out_.data(), want_.data(), want_.size()) == 0) continue;
      const auto at =
          static_cast<std::size_t>(std::mismatch(want_.begin(), want_.end(), out_.data()).first - want_.begin());
      FAIL() << what << ", order " << order << ": byte " << at << " of " << want_.size() << ", " << color_.width
             << " x " << color_.height << " " << to_string(format_.dtype) << " " << to_string(format_.layout);
    }
  }

 private:
  static constexpr std::size_t kBefore = 64;  // of the memory: another view's
  static constexpr std::uint8_t kUntouched = 0x5A;

  const ColorMap map_;
  const TensorFormat format_;
  DeviceColor color_;
  std::vector<std::uint8_t> want_;
  const FencedBytes out_;
};

}  // namespace stoker
