#include "stoker/plan/device_mixing.h"

#include "stoker/plan/device_item.h"

namespace stoker {

std::size_t MixedImages::table_bytes(const MixProgram& program, std::size_t slots) {
  std::size_t bytes = 0;
  for (const MixStep& step : program.steps) bytes += step.images.size() * device_place_bytes(slots * sizeof(DeviceMix));
  return bytes;
}

void MixedImages::gather(const DrawnMixing& mixing, std::size_t step, std::size_t view, int slots) {
  mixes_.clear();
  group_ = mixing.mixer->steps()[step].group;
  for (int slot = 0; slot < slots; ++slot) {
    const MixGroup group = mixing.mixer->group_at(*mixing.batch, step, slot);
    bool any = false;
    for (int m = 0; m < group.size; ++m) {
      const int member = group.slots[static_cast<std::size_t>(m)];
      mixes_.push_back({mixing.mixer->draw_of(*mixing.batch, mixing.draws, step, member, view), member});
      any = any || mixes_.back().mix.kind != MixDraw::Kind::kKeep;
    }
    if (!any) mixes_.resize(mixes_.size() - static_cast<std::size_t>(group.size));
  }
}

DeviceLaunch MixedImages::launch(const DeviceMix* mixes_on_device, const OutputSpec& output,
                                 std::uint8_t* images) const {
  const ImageSize size = image_size_of(output);
  const std::size_t slot_bytes = output.bytes_per_sample();
  const int blocks = DeviceMixKernel::blocks_per_group(size.width, size.height);
  DeviceLaunch launch = DeviceLaunch::of<DeviceMixKernel>({.images = images,
                                                           .slot_bytes = slot_bytes,
                                                           .mixes = mixes_on_device,
                                                           .group = group_,
                                                           .dtype = output.dtype,
                                                           .interleaved = output.layout == Layout::kNhwc,
                                                           .width = size.width,
                                                           .height = size.height,
                                                           .blocks_per_group = blocks},
                                                          blocks * static_cast<int>(mixes_.size()) / group_);
  launch.bytes = 2 * slot_bytes * mixes_.size();
  return launch;
}

}  // namespace stoker
