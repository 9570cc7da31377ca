#include "stoker/plan/device_pictures.h"

#include "stoker/plan/device_item.h"

namespace stoker {
namespace {

// The block after those of a picture; both kernels give it as many.
int end_of(const DevicePicture& picture) { return picture.first_block + DevicePictureKernel::blocks(picture); }

static_assert(PictureLayout::kAlignment == kDevicePlaceAlignment);

}  // namespace

DevicePictureRoom::DevicePictureRoom(const ImageProgram& program, std::size_t slots) {
  if (program.picture.empty()) return;
  const PictureBounds& bounds = program.picture.bounds();
  const auto rounds = static_cast<std::size_t>(bounds.steps);
  stride = PictureLayout(bounds, *program.geometry.output_size(), program.canvas_size()).scratch +
           device_place_bytes(sizeof(PictureFacts));
  table_bytes = device_place_bytes(slots * rounds * sizeof(PictureStep)) +
                2 * rounds * (device_place_bytes(slots * sizeof(DevicePicture)) + kDevicePlaceAlignment) +
                device_place_bytes(slots * sizeof(DeviceResized));
}

void PictureRounds::start(const ImageProgram& program, ImageSize size, const DevicePictureRoom& room,
                          std::uint8_t* memory) {
  size_ = size;
  layout_ = PictureLayout(program.picture.bounds(), size_, program.source_warp.canvas(size_));
  chain_ = &program.picture;
  room_ = room;
  memory_ = memory;
  steps_.clear();
  all_.clear();
}

void PictureRounds::add(int slot, const SampleDraw& draw, std::span<const PictureStep> first) {
  chain_->draw(size_, draw, drawn_, first);
  Picture& picture = all_.emplace_back();
  picture.slot = slot;
  picture.size = layout_.begin;
  picture.memory = memory_ + room_.begin + room_.stride * static_cast<std::size_t>(slot);
  picture.step = steps_.size();
  steps_.insert(steps_.end(), drawn_.all().begin(), drawn_.all().end());
  picture.end = steps_.size();
}

void PictureRounds::place_steps(const PictureStep* on_device) { steps_on_device_ = on_device; }

void PictureRounds::add_pass(Picture& picture) {
  const std::span<const PictureStep> left(steps_.data() + picture.step, picture.end - picture.step);
  const std::span<const PictureStep> now = left.first(static_cast<std::size_t>(pass_length(left)));
  const PictureTraits& traits = traits_of(now.front().kind);
  const auto buffer = [&](bool second) { return picture.memory + (second ? layout_.picture : 0); };
  const bool from = picture.moved, to = traits.reads_around ? !from : from;
  DevicePicture next{.pass = {.steps = steps_on_device_ + picture.step,
                              .count = static_cast<int>(now.size()),
                              .facts = reinterpret_cast<PictureFacts*>(picture.memory + layout_.scratch),
                              .in = buffer(from),
                              .out = buffer(to),
                              .kept = picture.memory + layout_.kept,
                              .kept_stride = layout_.picture,
                              .work = picture.memory + layout_.work,
                              .scratch = nullptr,
                              .width = size_.width,
                              .height = size_.height,
                              .in_width = picture.size.width,
                              .in_height = picture.size.height},
                     .unit = traits.unit,
                     .first_block = 0,
                     .statistic = statistic_of(now)};
  std::vector<DevicePicture>& round = traits.unit == 1 ? by_pixels_ : by_blocks_;
  if (!round.empty()) next.first_block = end_of(round.back());
  round.push_back(next);
  if (next.statistic != PictureStatistic::kNone) counted_.push_back(next);
  picture.moved = to;
  picture.size = size_;
  picture.step += now.size();
}

bool PictureRounds::next() {
  by_pixels_.clear();
  by_blocks_.clear();
  counted_.clear();
  for (Picture& picture : all_) {
    if (picture.step < picture.end) add_pass(picture);
  }
  return !by_pixels_.empty() || !by_blocks_.empty();
}

DeviceLaunch PictureRounds::launch_facts(const DevicePicture* counted_on_device) const {
  DeviceLaunch launch =
      DeviceLaunch::of<DevicePictureFactsKernel>({.pictures = counted_on_device}, static_cast<int>(counted_.size()));
  launch.bytes = counted_.size() * layout_.picture;
  return launch;
}

template <class Kernel>
DeviceLaunch PictureRounds::launch(const std::vector<DevicePicture>& pictures, const DevicePicture* on_device) const {
  DeviceLaunch launch = DeviceLaunch::of<Kernel>(
      {.pictures = on_device, .count = static_cast<std::int32_t>(pictures.size())}, end_of(pictures.back()));
  launch.bytes = 2 * pictures.size() * layout_.picture;
  return launch;
}

DeviceLaunch PictureRounds::launch_pixels(const DevicePicture* by_pixels_on_device) const {
  return launch<DevicePictureKernel>(by_pixels_, by_pixels_on_device);
}

DeviceLaunch PictureRounds::launch_blocks(const DevicePicture* by_blocks_on_device) const {
  return launch<DevicePictureBlockKernel>(by_blocks_, by_blocks_on_device);
}

void PictureRounds::results(std::vector<DeviceResized>& results) const {
  for (const Picture& picture : all_) {
    const std::uint8_t* const result = picture.memory + (picture.moved ? layout_.picture : 0);
    results.push_back({.samples = static_cast<std::uint64_t>(result - memory_),
                       .slot = picture.slot,
                       .kind = DeviceResized::Kind::kRgbPlanes});
  }
}

}  // namespace stoker
