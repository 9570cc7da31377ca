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
  const MeasuredRun run = {"run.json", {.threads = 1}, 44, 64, facts.step.seconds.median};
  const Diagnosis diagnosis = diagnosis_of(facts, {.runs = {run}});
  ASSERT_EQ(diagnosis.runs.size(), 1U);
  EXPECT_EQ(diagnosis.runs[0].predicted_samples_per_s, predict(facts, run.knobs).samples_per_s);
  EXPECT_LT(diagnosis.runs[0].predicted_samples_per_s, diagnosis.now.samples_per_s);
}

TEST(Diagnosis, ComparesOnlyRunsOfTheSameBatchAndStep) {
  const Facts facts = few_cores_facts();
  const double step_s = facts.step.seconds.median;
  const auto difference = [&](std::optional<int> batch, std::optional<double> its_step_s) {
    return diagnosis_of(facts, {.runs = {{"run.json", {}, 44, batch, its_step_s}}}).runs.at(0).differs;
  };
  EXPECT_EQ(difference(64, step_s), "");
  EXPECT_EQ(difference(64, 1.001 * step_s), "");
  EXPECT_EQ(difference(32, step_s), "its batches have 32, not 64");
  EXPECT_THAT(difference(64, 2 * step_s), testing::HasSubstr("its step takes"));
  EXPECT_THAT(difference(64, std::nullopt), testing::HasSubstr("--accelerator"));
  EXPECT_THAT(difference(std::nullopt, std::nullopt), testing::HasSubstr("does not say"));
}

TEST(Diagnosis, ComparesOnlyRunsOfAsManyAccelerators) {
  Facts facts = few_cores_facts();
  const auto difference = [&](int accelerators) {
    const MeasuredRun run = {"run.json", {}, 44, 64, facts.step.seconds.median, accelerators};
    return diagnosis_of(facts, {.runs = {run}}).runs.at(0).differs;
  };
  EXPECT_EQ(difference(1), "");
  EXPECT_EQ(difference(2), "it fed 2 accelerators, not 1");
  facts.step.gpus = 4;
  EXPECT_EQ(difference(1), "it fed 1 accelerator, not 4");
  EXPECT_EQ(difference(4), "");
}

TEST(Diagnosis, DividesTheKnobsOfARunAmongItsAccelerators) {
  const Facts facts = eight_gpus_facts();
  MeasuredRun run = {"run.json", {.threads = 8, .io_depth = 64, .prefetch = 16}, 44};
  run.accelerators = 8;
  const Configuration of_each = {.threads = 1, .io_depth = 8, .prefetch = 2};
  ASSERT_NE(predict(facts, of_each).samples_per_s, predict(facts, run.knobs).samples_per_s);
  EXPECT_EQ(diagnosis_of(facts, {.runs = {run}}).runs.at(0).predicted_samples_per_s,
            predict(facts, of_each).samples_per_s);
}

TEST(Diagnosis, NoPartDoesThatTrainingNeedsMoreOf) {
  Facts small = healthy_facts();  // data that memory holds after the first epoch
  small.step.seconds = figure(0.5);
  for (const Facts& facts : {small, healthy_facts(), few_cores_facts(), small_files_facts(), small_memory_facts()}) {
    const Diagnosis diagnosis = diagnosis_of(facts);
    for (const Excess& excess : diagnosis.changes.excess) {
      if (!excess.what_if.starts_with("disk=")) continue;
      EXPECT_EQ(excess.what_if, "disk=" + diagnosis.right_size.training.disk);
    }
  }
}

}  // namespace
}  // namespace stoker
