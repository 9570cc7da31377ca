#include "stoker/doctor/verdict/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/doctor/facts_testing.h"
#include "stoker/doctor/model/predict.h"

namespace stoker {
namespace {

Diagnosis diagnosis_of(const Facts& facts, const DiagnosisQuestion& question = {}) {
  return diagnose(facts, question, Catalogue::shipped());
}

TEST(Diagnosis, NamesWhatHoldsEachMachineBack) {
  EXPECT_TRUE(diagnosis_of(healthy_facts()).verdict.fed());
  EXPECT_EQ(diagnosis_of(few_cores_facts()).verdict.bottleneck.limiter, Limiter::kCpuDecode);
  EXPECT_EQ(diagnosis_of(heavy_recipe_facts()).verdict.bottleneck.limiter, Limiter::kCpuTransform);
  EXPECT_EQ(diagnosis_of(small_files_facts()).verdict.bottleneck.limiter, Limiter::kStorageRequests);
  EXPECT_EQ(diagnosis_of(object_store_facts()).verdict.bottleneck.limiter, Limiter::kStorageRequests);
  EXPECT_EQ(diagnosis_of(eight_gpus_facts()).verdict.bottleneck.limiter, Limiter::kNetwork);
  EXPECT_EQ(diagnosis_of(small_memory_facts()).verdict.bottleneck.limiter, Limiter::kStorageBandwidth);
}

TEST(Diagnosis, AnswersWhatIfs) {
  const Diagnosis diagnosis = diagnosis_of(few_cores_facts(), {.what_ifs = {"cores=4 threads=4", "disk=hdd"}});
  ASSERT_EQ(diagnosis.what_ifs.size(), 2U);
  const WhatIf& cores = diagnosis.what_ifs[0];
  EXPECT_EQ(cores.text, "cores=4 threads=4");
  EXPECT_NEAR(cores.gain, 1, 0.15);
  EXPECT_EQ(cores.gain, cores.prediction.samples_per_s / diagnosis.now.samples_per_s - 1);
}

TEST(Diagnosis, ComparesRunsWithWhatIsPredictedForTheirKnobs) {
  const Facts facts = few_cores_facts();
  const MeasuredRun run = {"run.json", {.threads = 1}, 44};
  const Diagnosis diagnosis = diagnosis_of(facts, {.runs = {run}});
  ASSERT_EQ(diagnosis.runs.size(), 1U);
  EXPECT_EQ(diagnosis.runs[0].predicted_samples_per_s, predict(facts, run.knobs).samples_per_s);
  EXPECT_LT(diagnosis.runs[0].predicted_samples_per_s, diagnosis.now.samples_per_s);
}

}  // namespace
}  // namespace stoker
