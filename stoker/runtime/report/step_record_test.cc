#include "stoker/runtime/report/step_record.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

const StepKey kStepKey = {.data = 7, .recipe = 1};
const StepRecord kStepRecord = {.median_s = 0.2,
                                .low_s = 0.19,
                                .high_s = 0.22,
                                .count = 40,
                                .batch = 256,
                                .world = 2,
                                .how = "replay",
                                .machine = "a machine, 8 cores",
                                .recorded_s = 1'700'000'000};

TEST(KeptStep, IsThatOfTheLastTraining) {
  const TempFolder cache;
  const KeptStep kept(cache.path(), kStepKey);
  EXPECT_FALSE(kept.load());
  StepRecord earlier = kStepRecord;
  earlier.batch = 128;
  kept.save(earlier);
  kept.save(kStepRecord);
  EXPECT_EQ(KeptStep(cache.path(), kStepKey).load(), kStepRecord);
}

TEST(KeptStep, IsForTheSameDataAndRecipeOnly) {
  const TempFolder cache;
  KeptStep(cache.path(), kStepKey).save(kStepRecord);
  EXPECT_FALSE(KeptStep(cache.path(), {.data = 8, .recipe = kStepKey.recipe}).load());
  EXPECT_FALSE(KeptStep(cache.path(), {.data = 7, .recipe = 2}).load());
}

TEST(KeptStep, ThatIsDamagedIsIgnored) {
  const TempFolder cache;
  const KeptStep kept(cache.path(), kStepKey);
  for (const char* const text : {"", "{", "[]", "{\"version\": 2}", "{\"version\": 1, \"median_s\": \"fast\"}"}) {
    cache.write(kept.path().substr(cache.path().size() + 1), text);
    EXPECT_FALSE(kept.load()) << text;
  }
  StepRecord senseless = kStepRecord;
  senseless.low_s = 0.3;
  kept.save(senseless);
  EXPECT_FALSE(kept.load());
}

TEST(KeptStep, IsNotKeptWithoutAFolderForIt) {
  const KeptStep nowhere("", kStepKey);
  nowhere.save(kStepRecord);
  EXPECT_FALSE(nowhere.load());
  const TempFolder cache;
  const KeptStep blocked(cache.write("a file", ""), kStepKey);
  blocked.save(kStepRecord);
  EXPECT_FALSE(blocked.load());
}

}  // namespace
}  // namespace stoker
