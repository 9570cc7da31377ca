#include "stoker/runtime/tuning/tuned_stages.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace stoker {
namespace {

// Of a recipe whose stages take 40, 20 and 10 us of a core, and half of that of a device; 5 us to hand files over.
TunedWorkload calibrated() {
  TunedWorkload workload;
  set_costs(std::vector<CrossingCost>{{5, 100, 35}, {45, 300, 15}, {65, 150, 5}, {75, 600, 0}}, workload);
  return workload;
}

MetricsWindow window_of(const std::map<Metric, std::int64_t>& values) {
  Metrics end;
  for (const auto& [metric, value] : values) end[metric] = value;
  return MetricsWindow(Metrics(), end);
}

std::map<std::string, double> by_name(const std::vector<TunerWindow::Stage>& stages, StageSide side) {
  std::map<std::string, double> seconds;
  for (const TunerWindow::Stage& stage : stages) {
    if (stage.side == side) seconds[stage.name] = stage.seconds;
  }
  return seconds;
}

TEST(TunedStages, AreWhatEachIndexAddsToTheOneBefore) {
  const TunedWorkload workload = calibrated();
  EXPECT_DOUBLE_EQ(workload.hand_over.cpu_s, 5e-6);
  EXPECT_DOUBLE_EQ(workload.hand_over.bytes_out, 100);
  ASSERT_EQ(workload.stages.size(), 3u);
  const double cpu_us[] = {40, 20, 10}, device_us[] = {20, 10, 5}, bytes[] = {300, 150, 600};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(workload.stages[i].cpu_s, cpu_us[i] * 1e-6, 1e-12);
    EXPECT_NEAR(workload.stages[i].device_s.value(), device_us[i] * 1e-6, 1e-12);
    EXPECT_DOUBLE_EQ(workload.stages[i].bytes_out, bytes[i]);
  }
}

TEST(TunedStages, CostNothingRatherThanLessWhereNoiseSaysSo) {
  TunedWorkload workload;
  set_costs(std::vector<CrossingCost>{{50, 1, 9}, {45, 1, 10}, {60, 1, 2}, {60, 1, 0}}, workload);
  EXPECT_EQ(workload.stages[0].cpu_s, 0);
  EXPECT_EQ(workload.stages[0].device_s, 0);
}

TEST(TunedStages, ThatNobodyTimesOnTheDeviceAreTheCpus) {
  TunedWorkload workload;
  set_costs(std::vector<CrossingCost>{{5, 1, {}}, {45, 1, {}}, {60, 1, {}}, {70, 1, 0}}, workload);
  for (const TunedStage& stage : workload.stages) EXPECT_FALSE(stage.device_s) << stage.name;
}

TEST(BusyStages, ShareWhatWasMeasuredAsOne) {
  const MetricsWindow all_on_cpu =
      window_of({{stage_ns(StageSide::kCpu, Stage::kDecode), 45'000'000},
                 {stage_ns(StageSide::kCpu, Stage::kGeometry, Stage::kColor), 30'000'000}});
  const auto cpu = by_name(busy_stages(all_on_cpu, 3, calibrated()), StageSide::kCpu);
  EXPECT_NEAR(cpu.at("hand-over"), 0.005, 1e-9);
  EXPECT_NEAR(cpu.at("decode"), 0.040, 1e-9);
  EXPECT_NEAR(cpu.at("geometry"), 0.020, 1e-9);
  EXPECT_NEAR(cpu.at("color"), 0.010, 1e-9);
  EXPECT_TRUE(by_name(busy_stages(all_on_cpu, 3, calibrated()), StageSide::kDevice).empty());
}

TEST(BusyStages, StandOnTheirSideOfTheIndex) {
  const MetricsWindow split = window_of({{stage_ns(kHandOver), 9'000'000},
                                         {stage_ns(StageSide::kCpu, Stage::kDecode), 36'000'000},
                                         {stage_ns(StageSide::kDevice, Stage::kGeometry, Stage::kColor), 12'000'000},
                                         {stage_ns(StageSide::kDevice, Stage::kColor), 3'000'000}});
  const std::vector<TunerWindow::Stage> stages = busy_stages(split, 1, calibrated());
  const auto cpu = by_name(stages, StageSide::kCpu), device = by_name(stages, StageSide::kDevice);
  EXPECT_EQ(cpu.size(), 2u);
  EXPECT_NEAR(cpu.at("hand-over") + cpu.at("decode"), 0.045, 1e-9);
  EXPECT_EQ(device.size(), 2u);
  EXPECT_NEAR(device.at("geometry"), 0.010, 1e-9);
  EXPECT_NEAR(device.at("color"), 0.005, 1e-9);
}

TEST(BusyStages, CountDecodingThatTheCpuDoesAtIndex0AsHandingOver) {
  // Files without entry points: the device cannot begin with them.
  const MetricsWindow window =
      window_of({{stage_ns(StageSide::kCpu, Stage::kDecode), 50'000'000}, {stage_ns(kHandOver), 1'000'000}});
  const auto cpu = by_name(busy_stages(window, 0, calibrated()), StageSide::kCpu);
  EXPECT_EQ(cpu.size(), 1u);
  EXPECT_NEAR(cpu.at("hand-over"), 0.051, 1e-9);
}

TEST(SetCosts, ByAWindowAreThoseOfItsIndex) {
  TunedWorkload workload;
  const MetricsWindow window = window_of({{stage_ns(StageSide::kCpu, Stage::kDecode), 40'000'000},
                                          {stage_ns(StageSide::kCpu, Stage::kGeometry), 20'000'000},
                                          {stage_ns(StageSide::kDevice, Stage::kColor), 5'000'000},
                                          {Metric::kBytesToDevice, 150'000}});
  set_costs(window, 1000, 2, workload);
  double cpu_s = 0, device_s = 0;
  for (const TunedStage& stage : all_stages(workload)) {
    cpu_s += stage.cpu_s;
    device_s += stage.device_s.value_or(0);
  }
  EXPECT_NEAR(cpu_s, 60e-6, 1e-9);
  EXPECT_NEAR(device_s, 5e-6, 1e-9);
  EXPECT_DOUBLE_EQ(workload.stages[1].bytes_out, 150);
  EXPECT_FALSE(workload.stages[0].device_s) << "it is not known";
}

TEST(SetCosts, AreNeverNothing) {
  TunedWorkload workload;
  set_costs(window_of({}), 1000, 3, workload);  // labels alone, no image
  EXPECT_GT(workload.hand_over.cpu_s, 0);
}

}  // namespace
}  // namespace stoker
