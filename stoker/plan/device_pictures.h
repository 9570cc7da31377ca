// The operators on pictures of one view for a batch on a device. They run in rounds: each computes the next pass of
// every picture that has one left, so that all pictures of a batch share a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stoker/device/launch.h"
#include "stoker/ops/picture/picture_operator.h"
#include "stoker/plan/plan.h"

namespace stoker {

/// Room for one view's pictures in a batch's memory, in bytes; none for a view without operators on them.
struct DevicePictureRoom {
  std::size_t begin = 0;        // of the first slot's, in the device's memory
  std::size_t stride = 0;       // from one slot's to the next: a PictureLayout up to its scratch, then PictureFacts
  std::size_t table_bytes = 0;  // of what describes all rounds

  DevicePictureRoom() = default;
  DevicePictureRoom(const ImageProgram& program, std::size_t slots);
};

/// Keeps its memory from batch to batch. The caller copies its tables to the device and says where they are there.
class PictureRounds {
 public:
  /// Pictures of this size are in `memory`, the device's, as `room` says.
  void start(const ImageProgram& program, ImageSize size, const DevicePictureRoom& room, std::uint8_t* memory);
  /// The picture of this slot, whose sample is `draw`; its steps follow `first`.
  void add(int slot, const SampleDraw& draw, std::span<const PictureStep> first);

  /// The steps of all pictures, once they are added; and where they are on the device.
  const std::vector<PictureStep>& steps() const { return steps_; }
  void place_steps(const PictureStep* on_device);

  /// Goes on to the next round; false if no picture has a pass left.
  bool next();
  /// The pictures of the round, by what the units of their passes are, and those that have to be counted first.
  const std::vector<DevicePicture>& by_pixels() const { return by_pixels_; }
  const std::vector<DevicePicture>& by_blocks() const { return by_blocks_; }
  const std::vector<DevicePicture>& counted() const { return counted_; }
  DeviceLaunch launch_facts(const DevicePicture* counted_on_device) const;
  DeviceLaunch launch_pixels(const DevicePicture* by_pixels_on_device) const;
  DeviceLaunch launch_blocks(const DevicePicture* by_blocks_on_device) const;

  /// Appends where the results are after the last round.
  void results(std::vector<DeviceResized>& results) const;

 private:
  struct Picture {
    int slot;
    std::uint8_t* memory;   // of its PictureLayout
    ImageSize size;         // of the picture now
    bool moved;             // it is in the second buffer
    std::size_t step, end;  // of steps_: those that are left
  };
  void add_pass(Picture& picture);
  template <class Kernel>
  DeviceLaunch launch(const std::vector<DevicePicture>& pictures, const DevicePicture* on_device) const;

  ImageSize size_;
  PictureLayout layout_{{}, {}, {}};
  const PictureChain* chain_ = nullptr;
  DevicePictureRoom room_;
  std::uint8_t* memory_ = nullptr;
  PictureSteps drawn_;
  std::vector<PictureStep> steps_;
  const PictureStep* steps_on_device_ = nullptr;
  std::vector<Picture> all_;
  std::vector<DevicePicture> by_pixels_, by_blocks_, counted_;
};

}  // namespace stoker
