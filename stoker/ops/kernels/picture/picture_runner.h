// Runs the steps of one picture on the CPU.
#pragma once

#include <cstdint>
#include <span>

#include "stoker/ops/picture/picture_operator.h"
#include "stoker/ops/picture/picture_pass.h"

namespace stoker {

/// One per worker: it keeps what passes derive. The same bits on every instruction set.
class PictureRunner {
 public:
  /// `memory` is laid out as `layout` says, and the picture is its first part. Returns the part where the result is.
  const std::uint8_t* run(std::span<const PictureStep> steps, ImageSize size, const PictureLayout& layout,
                          std::uint8_t* memory);

 private:
  PictureStatistics statistics_{};
  PictureFacts facts_{};
};

}  // namespace stoker
