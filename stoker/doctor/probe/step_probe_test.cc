#include "stoker/doctor/probe/step_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/report/step_record.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

class StepProbe : public ::testing::Test {
 protected:
  StepFacts probe(const std::string& step, int batch = 256) const {
    return probe_step({.step = step, .batch = batch, .gpus = 2, .cache_folder = cache_.path()}, *data_.dataset,
                      recipe_);
  }

  const TempFolder cache_;
  const MemoryDataset data_ = memory_dataset({.tiny = true});
  const Recipe recipe_ = small_recipe();
};

TEST_F(StepProbe, TakesSecondsAndProfiles) {
  const StepFacts seconds = probe("0.25");
  EXPECT_EQ(seconds.source, "seconds");
  EXPECT_EQ(seconds.seconds.median, 0.25);
  EXPECT_EQ(seconds.batch, 256);
  EXPECT_EQ(seconds.gpus, 2);
  const StepFacts profile = probe("mlperf:resnet50/h100", 200);
  EXPECT_EQ(profile.source, "mlperf:resnet50/h100");
  EXPECT_DOUBLE_EQ(profile.seconds.median, 0.112);
  EXPECT_EQ(error_of([&] { probe("mlperf:resnet/h100"); }).kind(), ErrorKind::kUsage);
  EXPECT_EQ(error_of([&] { probe("0"); }).kind(), ErrorKind::kUsage);
}

TEST_F(StepProbe, ReplaysWhatTheLastTrainingLeft) {
  const Error error = error_of([&] { probe("replay"); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.message(), HasSubstr("there is no recorded training step"));
  const StepKey key{.data = data_.dataset->fingerprint(), .recipe = recipe_.hash()};
  KeptStep(cache_.path(), key)
      .save({.median_s = 0.2, .low_s = 0.18, .high_s = 0.24, .count = 40, .batch = 256, .machine = "a machine"});
  const StepFacts step = probe("replay");
  EXPECT_EQ(step.source, "replay");
  EXPECT_EQ(step.seconds.median, 0.2);
  EXPECT_EQ(step.seconds.high, 0.24);
  EXPECT_EQ(step.seconds.count, 40);
  EXPECT_EQ(step.seconds.caveat, "");
  EXPECT_THAT(step.account, HasSubstr("40 steps on a machine"));
  const StepFacts half = probe("replay", 128);
  EXPECT_EQ(half.seconds.median, 0.1);
  EXPECT_THAT(half.seconds.caveat, HasSubstr("batches of 256"));
}

}  // namespace
}  // namespace stoker
