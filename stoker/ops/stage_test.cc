#include "stoker/ops/stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stoker/ops/operator_table.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> running(StageSide side, int transfer_index) {
  std::vector<std::string> names;
  for (const StageRun& run : kStageRuns) {
    if (run.side == side && runs_at(run, transfer_index)) names.emplace_back(run.name);
  }
  return names;
}

TEST(Stages, RunAsOneAsFarAsTheTransferIndexLeavesThemTogether) {
  EXPECT_THAT(running(StageSide::kCpu, 0), ElementsAre("hand-over"));
  EXPECT_THAT(running(StageSide::kCpu, 1), ElementsAre("hand-over", "decode"));
  EXPECT_THAT(running(StageSide::kCpu, 2), ElementsAre("decode", "geometry"));
  EXPECT_THAT(running(StageSide::kCpu, 3), ElementsAre("decode", "geometry+color"));
  EXPECT_THAT(running(StageSide::kDevice, 0), ElementsAre("decode", "geometry+color"));
  EXPECT_THAT(running(StageSide::kDevice, 1), ElementsAre("geometry+color"));
  EXPECT_THAT(running(StageSide::kDevice, 2), ElementsAre("color"));
  EXPECT_THAT(running(StageSide::kDevice, 3), ElementsAre());
}

// Exactly once: no run is missing, and none overlaps another.
TEST(Stages, AllRunAtEveryTransferIndex) {
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    std::vector<int> times(kStages.size());
    for (const StageRun& run : kStageRuns) {
      for (int i = run.begin; i < run.end && runs_at(run, index); ++i) ++times[static_cast<std::size_t>(i)];
    }
    EXPECT_THAT(times, ::testing::Each(1)) << index;
  }
}

TEST(Stages, BeginWithCodedImagesAndEndWithTensors) {
  EXPECT_EQ(form_at(0), ImageForm::kCoded);
  EXPECT_EQ(form_at(1), ImageForm::kDecoded);
  EXPECT_EQ(form_at(kTransferIndexMax), ImageForm::kFinished);
}

TEST(Stages, HaveTheOperatorsOfTheirFamilies) {
  EXPECT_EQ(stage_of(find_operator("decode")), Stage::kDecode);
  EXPECT_EQ(stage_of(find_operator("random_flip")), Stage::kGeometry);
  EXPECT_EQ(stage_of(find_operator("normalize")), Stage::kColor);
  EXPECT_EQ(stage_of(find_operator("cast")), Stage::kColor);
}

}  // namespace
}  // namespace stoker
