#include "stoker/runtime/tuning/tuned_stages.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <numeric>

namespace stoker {
namespace {

constexpr double kLeastCpuS = 1e-7;  // of any sample: a recipe may have no stages at all

// Stages of a side that some run fuses: the time that metrics measure for them is divided among those that ran. The
// hand-over belongs to the CPU's first group.
struct Group {
  StageSide side;
  int begin, end;  // borders

  bool holds(const StageRun& run) const { return run.side == side && begin <= run.begin && run.end <= end; }
};

std::vector<Group> groups() {
  std::vector<Group> groups;
  for (const StageSide side : {StageSide::kCpu, StageSide::kDevice}) {
    for (int begin = 0; begin < kTransferIndexMax; begin = groups.back().end) {
      int end = begin + 1;
      for (int stage = begin; stage < end; ++stage) {
        for (const StageRun& run : kStageRuns) {
          if (run.side == side && run.begin == stage) end = std::max(end, run.end);
        }
      }
      groups.push_back({side, begin, end});
    }
  }
  return groups;
}

double busy_s(const MetricsWindow& metrics, const Group& group) {
  double seconds = 0;
  for (std::size_t run = 0; run < kStageRuns.size(); ++run) {
    if (group.holds(kStageRuns[run])) seconds += metrics.seconds_of(stage_ns(run));
  }
  return seconds;
}

// The stages of the group that are on its side at this index, by their places in all_stages().
std::vector<std::size_t> members(const Group& group, int transfer_index) {
  std::vector<std::size_t> found;
  if (group.holds(kStageRuns[kHandOver])) found.push_back(0);
  for (int stage = group.begin; stage < group.end; ++stage) {
    const bool on_cpu = stage < transfer_index;
    if (on_cpu == (group.side == StageSide::kCpu)) found.push_back(static_cast<std::size_t>(stage) + 1);
  }
  return found;
}

void name_stages(TunedWorkload& workload) {
  workload.hand_over = {.name = std::string(kStageRuns[kHandOver].name)};
  workload.stages.clear();
  for (const StageTraits& stage : kStages) workload.stages.push_back({.name = std::string(stage.name)});
}

}  // namespace

void set_costs(std::span<const CrossingCost> crossings, TunedWorkload& workload) {
  assert(crossings.size() == kStages.size() + 1);
  name_stages(workload);
  workload.hand_over.cpu_s = std::max(crossings.front().cpu_us * 1e-6, kLeastCpuS);
  workload.hand_over.bytes_out = crossings.front().bytes_to_device;
  for (std::size_t i = 0; i < kStages.size(); ++i) {
    const CrossingCost& before = crossings[i];
    const CrossingCost& after = crossings[i + 1];
    TunedStage& stage = workload.stages[i];
    stage.cpu_s = std::max(0.0, after.cpu_us - before.cpu_us) * 1e-6;
    stage.bytes_out = after.bytes_to_device;
    if (kStages[i].on_device && before.device_us && after.device_us) {
      stage.device_s = std::max(0.0, *before.device_us - *after.device_us) * 1e-6;
    }
  }
}

void set_costs(const MetricsWindow& metrics, double samples, int transfer_index, TunedWorkload& workload) {
  name_stages(workload);
  const auto stage = [&](std::size_t place) -> TunedStage& {
    return place == 0 ? workload.hand_over : workload.stages[place - 1];
  };
  for (const Group& group : groups()) {
    const std::vector<std::size_t> places = members(group, transfer_index);
    const double each_s = busy_s(metrics, group) / samples;
    for (const std::size_t place : places) {
      const double share_s = each_s / static_cast<double>(places.size());
      if (group.side == StageSide::kCpu) {
        stage(place).cpu_s = share_s;
      } else {
        stage(place).device_s = share_s;
      }
    }
  }
  workload.hand_over.cpu_s = std::max(workload.hand_over.cpu_s, kLeastCpuS);
  stage(static_cast<std::size_t>(transfer_index)).bytes_out =
      static_cast<double>(metrics[Metric::kBytesToDevice]) / samples;
}

std::vector<TunerWindow::Stage> busy_stages(const MetricsWindow& metrics, int transfer_index,
                                            const TunedWorkload& workload) {
  const std::vector<TunedStage> stages = all_stages(workload);
  std::vector<TunerWindow::Stage> busy;
  for (const Group& group : groups()) {
    const std::vector<std::size_t> places = members(group, transfer_index);
    if (places.empty()) continue;
    const auto cost = [&](std::size_t place) {
      return group.side == StageSide::kCpu ? stages[place].cpu_s : stages[place].device_s.value_or(0);
    };
    const double all = std::accumulate(places.begin(), places.end(), 0.0,
                                       [&](double sum, std::size_t place) { return sum + cost(place); });
    for (const std::size_t place : places) {
      const double share = all > 0 ? cost(place) / all : 1 / static_cast<double>(places.size());
      busy.push_back({stages[place].name, group.side, share * busy_s(metrics, group)});
    }
  }
  return busy;
}

}  // namespace stoker
