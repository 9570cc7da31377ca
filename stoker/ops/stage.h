// The stages of an image, as data: what each takes and makes, where it may run, and which of them run as one. Plans,
// transfer indices, metrics, reports and the tuner's stages follow from these tables; a new stage is declared here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stoker/base/stage_side.h"

namespace stoker {

/// In the order in which they run.
enum class Stage : std::uint8_t { kDecode, kGeometry, kColor };

/// What an image is between two stages, and therefore how it may cross to a device.
enum class ImageForm : std::uint8_t {
  kCoded,
  kDecoded,   // RGB pixels of a window, or samples of planes
  kResized,   // 8-bit pixels or planes of the output's size
  kFinished,  // the tensor
};

struct StageTraits {
  std::string_view name;
  ImageForm input, output;
  bool on_device;  // a device can run it; the CPU can run all of them
  bool draws;      // its operators may take random numbers
};

/// By Stage.
inline constexpr std::array<StageTraits, 3> kStages = {{
    {"decode", ImageForm::kCoded, ImageForm::kDecoded, true, false},
    {"geometry", ImageForm::kDecoded, ImageForm::kResized, true, true},
    {"color", ImageForm::kResized, ImageForm::kFinished, true, true},
}};
constexpr const StageTraits& traits_of(Stage stage) { return kStages[static_cast<std::size_t>(stage)]; }

/// A transfer index is the border between the CPU's stages and the device's: so many of them run on the CPU.
inline constexpr int kTransferIndexMax = static_cast<int>(kStages.size());

/// The form of an image at this border.
constexpr ImageForm form_at(int transfer_index) {
  return transfer_index == 0 ? kStages.front().input : kStages[static_cast<std::size_t>(transfer_index) - 1].output;
}

/// Stages that one side runs, and times, as one.
struct StageRun {
  StageSide side;
  int begin, end;  // the borders around them
  std::string_view name, metric, doc;

  constexpr bool contains(const StageRun& other) const {
    return side == other.side && begin <= other.begin && other.end <= end;
  }
};

/// The CPU's come first. The hand-over is no stage, but what the CPU prepares so that a device can go on.
inline constexpr std::array<StageRun, 7> kStageRuns = {{
    {StageSide::kCpu, 0, 0, "hand-over", "hand_over_ns", "worker time spent preparing the device's work"},
    {StageSide::kCpu, 0, 1, "decode", "decode_ns", "worker time spent on headers and pixels"},
    {StageSide::kCpu, 1, 2, "geometry", "geometry_ns", "worker time spent on geometry when the device does color"},
    {StageSide::kCpu, 1, 3, "geometry+color", "geometry_color_ns", "worker time spent on geometry and color"},
    {StageSide::kDevice, 0, 1, "decode", "device_decode_ns", "device time for decoding, of delivered batches"},
    {StageSide::kDevice, 1, 3, "geometry+color", "device_geometry_color_ns",
     "device time for geometry and color, of delivered batches"},
    {StageSide::kDevice, 2, 3, "color", "device_color_ns", "device time for color alone, of delivered batches"},
}};
inline constexpr std::size_t kHandOver = 0;

/// Nanoseconds, by kStageRuns.
using StageTimes = std::array<std::int64_t, kStageRuns.size()>;

constexpr std::size_t stage_run_count(StageSide side) {
  std::size_t count = 0;
  for (const StageRun& run : kStageRuns) count += run.side == side ? 1 : 0;
  return count;
}

/// The place in kStageRuns of these stages on this side, which must be there.
consteval std::size_t stage_run(StageSide side, Stage first, Stage last) {
  const StageRun wanted{side, static_cast<int>(first), static_cast<int>(last) + 1, {}, {}, {}};
  std::size_t place = 0;
  while (!kStageRuns[place].contains(wanted) || !wanted.contains(kStageRuns[place])) ++place;
  return place;
}
consteval std::size_t stage_run(StageSide side, Stage stage) { return stage_run(side, stage, stage); }

/// Whether a side runs these stages as one at this transfer index: it does if no longer run has them there.
bool runs_at(const StageRun& run, int transfer_index);

}  // namespace stoker
