// What is erased from the tensors of one view of a batch on a device: one launch, after their colors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/device/launch.h"
#include "stoker/ops/erase/erase_operator.h"
#include "stoker/plan/plan.h"

namespace stoker {

/// Keeps its memory from batch to batch. The caller copies its tables to the device and says where they are there.
class ErasedTensors {
 public:
  /// What the tables of a view take at most in a batch of so many slots, each at a place of its own.
  static std::size_t table_bytes(const ImageProgram& program, std::size_t slots);

  /// Begins a view, whose images have that size. Its program must outlive the launch.
  void start(const ImageProgram& program, ImageSize size);
  /// Draws for the tensor in this slot, whose sample is `draw`.
  void add(int slot, const SampleDraw& draw);

  /// The tensors from which something is erased, once all are added, and the steps of all of them.
  const std::vector<DeviceErased>& tensors() const { return tensors_; }
  const std::vector<EraseStep>& steps() const { return steps_; }
  /// `color` says how the tensors lie in `out`.
  DeviceLaunch launch(const DeviceErased* tensors_on_device, const EraseStep* steps_on_device, const DeviceColor& color,
                      std::uint8_t* out) const;

 private:
  const ImageProgram* program_ = nullptr;
  ImageSize size_{};
  EraseSteps drawn_;
  std::vector<EraseStep> steps_;
  std::vector<DeviceErased> tensors_;
};

}  // namespace stoker
