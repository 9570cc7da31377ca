// How finished images of a batch on a device are mixed there: one launch for each step and view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stoker/device/launch.h"
#include "stoker/plan/batch_mixer.h"
#include "stoker/plan/plan.h"
#include "stoker/tensor/batch.h"

namespace stoker {

/// How samples of a batch are mixed, if they are.
struct DrawnMixing {
  const BatchMixer* mixer = nullptr;
  const Batch* batch = nullptr;  // which knows what stands in the slots
  std::span<const MixDraw> draws{};
};

/// Keeps its memory from batch to batch. The caller copies its table to the device and says where it is there.
class MixedImages {
 public:
  /// What all tables take at most in a batch of so many slots, each at a place of its own.
  static std::size_t table_bytes(const MixProgram& program, std::size_t slots);

  /// Finds what a step does to the images of a view, of which so many slots are in use.
  void gather(const DrawnMixing& mixing, std::size_t step, std::size_t view, int slots);
  /// One group after another; without groups that stay as they are.
  const std::vector<DeviceMix>& mixes() const { return mixes_; }
  /// The images of `output` are at `images`.
  DeviceLaunch launch(const DeviceMix* mixes_on_device, const OutputSpec& output, std::uint8_t* images) const;

 private:
  int group_ = 0;  // images in each
  std::vector<DeviceMix> mixes_;
};

}  // namespace stoker
