// Erases parts of a finished tensor on the CPU.
#pragma once

#include <cstdint>
#include <span>

#include "stoker/ops/color_map.h"
#include "stoker/ops/erase/erase_step.h"
#include "stoker/ops/geometry.h"

namespace stoker {

/// `tensor` has size.height x size.width x 3 elements. The same bits on every instruction set.
void erase_tensor(std::span<const EraseStep> steps, ImageSize size, TensorFormat format, std::uint8_t* tensor);

}  // namespace stoker
