#include "stoker/ops/stage.h"

#include <algorithm>

namespace stoker {
namespace {

consteval bool tables_agree() {
  for (std::size_t i = 1; i < kStages.size(); ++i) {
    if (kStages[i].input != kStages[i - 1].output) return false;
  }
  for (const StageRun& run : kStageRuns) {
    for (int i = run.begin; i < run.end; ++i) {
      if (run.side == StageSide::kDevice && !kStages[static_cast<std::size_t>(i)].on_device) return false;
    }
  }
  return kStages.back().output == ImageForm::kFinished;
}
static_assert(tables_agree());

}  // namespace

bool runs_at(const StageRun& run, int transfer_index) {
  if (run.begin == run.end) return form_at(transfer_index) <= ImageForm::kDecoded;
  const auto is_there = [&](const StageRun& other) {
    return other.side == StageSide::kCpu ? other.end <= transfer_index : other.begin >= transfer_index;
  };
  return is_there(run) && std::none_of(kStageRuns.begin(), kStageRuns.end(), [&](const StageRun& other) {
           return is_there(other) && other.contains(run) && !run.contains(other);
         });
}

}  // namespace stoker
