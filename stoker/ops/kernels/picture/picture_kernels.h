// The SIMD code of the picture family, as a table of functions per instruction set. Plain C++ code above this calls
// them (picture_runner.cc).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "stoker/ops/picture/picture_pass.h"

namespace stoker {

struct PictureKernels {
  std::int64_t target = 0;  // Highway's name of the instruction set

  /// By PictureKind, of a pass whose first step has it: the whole picture, with the bits of the meaning. Null: there is
  /// no kernel but the meaning itself. Nothing beyond the picture's planes is read or written.
  using Pass = void (*)(const PicturePass& pass);
  std::array<Pass, kPictureKinds> pass{};
  /// Of the values of a plane; and of torchvision's grey of three planes.
  std::uint64_t (*sum)(const std::uint8_t* plane, std::ptrdiff_t pixels) = nullptr;
  std::uint64_t (*grey_sum)(const std::uint8_t* planes, std::ptrdiff_t pixels) = nullptr;
  /// The smallest and the largest value of a plane.
  std::pair<std::uint8_t, std::uint8_t> (*extremes)(const std::uint8_t* plane, std::ptrdiff_t pixels) = nullptr;

  /// PixelNoise::normal() of one group.
  void (*normals)(std::uint64_t key, std::int64_t group, float* values) = nullptr;

  constexpr Pass& operator[](PictureKind kind) { return pass[static_cast<std::size_t>(kind)]; }
  constexpr Pass operator[](PictureKind kind) const { return pass[static_cast<std::size_t>(kind)]; }
};

/// Those of the active instruction set.
const PictureKernels& picture_kernels();

}  // namespace stoker
