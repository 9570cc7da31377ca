#include "stoker/plan/device_erasing.h"

#include <span>

#include "stoker/plan/device_item.h"

namespace stoker {

std::size_t ErasedTensors::table_bytes(const ImageProgram& program, std::size_t slots) {
  if (program.erase.empty()) return 0;
  return device_place_bytes(slots * sizeof(DeviceErased)) +
         device_place_bytes(slots * static_cast<std::size_t>(program.erase.steps_max()) * sizeof(EraseStep));
}

void ErasedTensors::start(const ImageProgram& program, ImageSize size) {
  program_ = &program;
  size_ = size;
  tensors_.clear();
  steps_.clear();
}

void ErasedTensors::add(int slot, const SampleDraw& draw) {
  program_->erase.draw(size_, draw, drawn_);
  const std::span<const EraseStep> steps = drawn_.all();
  if (steps.empty()) return;
  tensors_.push_back({.slot = slot,
                      .first_step = static_cast<std::int32_t>(steps_.size()),
                      .step_count = static_cast<std::int32_t>(steps.size())});
  steps_.insert(steps_.end(), steps.begin(), steps.end());
}

DeviceLaunch ErasedTensors::launch(const DeviceErased* tensors_on_device, const EraseStep* steps_on_device,
                                   const DeviceColor& color, std::uint8_t* out) const {
  const int blocks = DeviceEraseKernel::blocks_per_tensor(color);
  DeviceLaunch launch = DeviceLaunch::of<DeviceEraseKernel>(
      {.out = out, .tensors = tensors_on_device, .steps = steps_on_device, .color = color, .blocks_per_tensor = blocks},
      blocks * static_cast<int>(tensors_.size()));
  launch.bytes = steps_.size() * sizeof(EraseStep);
  return launch;
}

}  // namespace stoker
