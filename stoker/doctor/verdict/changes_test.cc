#include "stoker/doctor/verdict/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/doctor/facts_testing.h"
#include "stoker/doctor/model/predict.h"
#include "stoker/doctor/verdict/what_if.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Changes changes_of(const Facts& facts) {
  return weigh_changes(facts, predict(facts), Catalogue::shipped(), training_size(facts, Catalogue::shipped()));
}

TEST(Changes, AHealthyRunHasNothingToBuy) {
  const Changes changes = changes_of(healthy_facts());
  EXPECT_TRUE(changes.helpful.empty());
  EXPECT_THAT(changes.useless, Contains(Field(&Change::sentence, "more cores give nothing")));
  EXPECT_THAT(changes.excess, Contains(Field(&Excess::what_if, HasSubstr("cores="))));
  EXPECT_THAT(changes.excess, Contains(Field(&Excess::what_if, "disk=sata-ssd")));
}

TEST(Changes, FewCoresWantMore) {
  const Changes changes = changes_of(few_cores_facts());
  ASSERT_FALSE(changes.helpful.empty());
  EXPECT_GT(changes.helpful.front().gain, 5);
  EXPECT_EQ(changes.helpful.front().what_if, "transfer-index=0");  // it costs nothing
  EXPECT_FALSE(changes.helpful.front().buys);
  EXPECT_THAT(changes.helpful, Contains(AllOf(Field(&Change::what_if, "cores=16"), Field(&Change::buys, true))));
  EXPECT_THAT(changes.useless, Contains(Field(&Change::sentence, "a faster disk gives nothing")));
  EXPECT_THAT(changes.useless, Contains(Field(&Change::sentence, "a faster GPU gives nothing")));
}

TEST(Changes, SmallFilesWantAnotherDiskOrLargerPieces) {
  const Changes changes = changes_of(small_files_facts());
  ASSERT_FALSE(changes.helpful.empty());
  EXPECT_THAT(changes.helpful, Contains(Field(&Change::what_if, HasSubstr("disk="))));
  EXPECT_THAT(changes.helpful, Contains(Field(&Change::what_if, "layout=packed order=windowed")));
  EXPECT_THAT(changes.helpful, Not(Contains(Field(&Change::what_if, HasSubstr("gpu=")))));
  EXPECT_THAT(changes.useless, Contains(Field(&Change::sentence, "more cores give nothing")));
}

TEST(Changes, ThumbnailsWantLargerPiecesThoughNoFileShowsWhatADiskGivesThen) {
  Facts facts = small_files_facts();
  facts.machine.memory_bytes = std::uint64_t{512} << 20;
  facts.storage->cold_bytes_per_s = figure(375e3);
  facts.storage->cold = {{2500, 1, figure(150), {}}, {2500, 64, figure(150), {}}};
  facts.storage->limit_reads_per_s = 150;
  facts.storage->limit_bytes_per_s = 120e6;
  facts.data.read_bytes = facts.data.record_bytes = 2500;
  facts.data.bytes = 2500 * 200e3;
  const Changes changes = changes_of(facts);
  ASSERT_FALSE(changes.helpful.empty());
  EXPECT_EQ(changes.helpful.front().what_if, "layout=packed order=windowed") << "it is also what costs nothing";
  EXPECT_GT(changes.helpful.front().gain, 5);
}

TEST(Changes, WindowsAreAdvisedOnlyWhereTheRunCouldHaveThem) {
  Facts facts = small_files_facts();
  facts.run.may_window = false;  // its batch cannot be divided among the lanes
  const Changes changes = changes_of(facts);
  EXPECT_THAT(changes.helpful, Contains(Field(&Change::what_if, "layout=packed")));
  EXPECT_THAT(changes.helpful, Not(Contains(Field(&Change::what_if, HasSubstr("order=windowed")))));
}

TEST(Changes, AHeavyRecipeIsToBeLighter) {
  const Changes changes = changes_of(heavy_recipe_facts());
  EXPECT_THAT(changes.helpful, Contains(Field(&Change::what_if, "without=augment")));
  EXPECT_THAT(changes.helpful, Contains(Field(&Change::what_if, HasSubstr("cores="))));
}

TEST(Changes, EightGpusWantAFasterNetworkOrACache) {
  const Changes changes = changes_of(eight_gpus_facts());
  EXPECT_THAT(changes.helpful, Contains(Field(&Change::what_if, HasSubstr("network="))));
  EXPECT_THAT(changes.helpful, Contains(Field(&Change::what_if, "disk=nvme cache=disk")));
  EXPECT_THAT(changes.helpful, Not(Contains(Field(&Change::what_if, HasSubstr("cores=")))));
}

TEST(Changes, ACacheThatIsTooSmallWantsMemoryOrAFasterDisk) {
  const Changes changes = changes_of(small_memory_facts());
  EXPECT_THAT(changes.helpful, Contains(Field(&Change::what_if, HasSubstr("memory="))));
  EXPECT_THAT(changes.helpful, Contains(Field(&Change::what_if, "disk=nvme")));
}

TEST(Changes, WhatHelpsTheFirstEpochAloneHelps) {
  Facts facts = small_memory_facts();
  facts.step.seconds = figure(0.04, 0.01);  // later epochs are fed
  const Changes changes = changes_of(facts);
  ASSERT_FALSE(changes.helpful.empty());
  EXPECT_EQ(changes.helpful.front().what_if, "disk=nvme");
  EXPECT_LT(changes.helpful.front().gain, 0.03);
  EXPECT_GT(changes.helpful.front().first_epoch_gain, 0.2);
}

TEST(Changes, AreRankedByGainAndCanBeAskedAsTheyStand) {
  for (const Facts& facts : {few_cores_facts(), small_files_facts(), heavy_recipe_facts(), eight_gpus_facts(),
                             small_memory_facts(), object_store_facts()}) {
    const Prediction now = predict(facts);
    const Changes changes = changes_of(facts);
    double last = 1e9;
    for (const Change& change : changes.helpful) {
      EXPECT_LE(change.gain, last + 0.05 * (1 + last));
      last = change.gain;
      EXPECT_TRUE(change.gain >= 0.03 || change.first_epoch_gain >= 0.1) << change.what_if;
      EXPECT_GT(change.error, 0);
      const Configuration asked = parse_what_if(change.what_if, facts, Catalogue::shipped());
      EXPECT_NEAR(predict(facts, asked).samples_per_s, (1 + change.gain) * now.samples_per_s, 1e-3 * now.samples_per_s)
          << change.what_if;
    }
    for (const Change& change : changes.useless) EXPECT_LT(change.gain, 0.03) << change.sentence;
    for (const Excess& excess : changes.excess) {
      EXPECT_GE(excess.prediction.samples_per_s, 0.98 * now.samples_per_s) << excess.sentence;
    }
  }
}

TEST(Changes, APartOfACoreIsNotTooMuchUnlessLessWouldDo) {
  Facts facts = few_cores_facts();
  facts.cpu.scaling = {{1, figure(44)}, {2, figure(66)}};
  for (const double cores : {1.5, 0.5}) {
    facts.machine.cores = cores;
    for (const Excess& excess : changes_of(facts).excess) {
      EXPECT_THAT(excess.what_if, Not(StartsWith("cores="))) << excess.sentence << ", of " << cores;
    }
  }
}

TEST(Changes, HalfOfTheMemoryIsTriedThoughAMachineHasALittleLessThanItIsSoldWith) {
  Facts facts = healthy_facts();
  facts.machine.memory_bytes = (std::uint64_t{156} << 30) / 10;
  const Changes changes = changes_of(facts);
  EXPECT_THAT(changes.excess, Contains(Field(&Excess::what_if, "memory=8GiB"))) << "4 GiB are too few for its loader";
}

TEST(Changes, NoMoreReadsAtATimeThanALoaderTakes) {
  Facts facts = object_store_facts();
  facts.run.io_depth = 1024;
  const Changes changes = changes_of(facts);
  for (const auto* list : {&changes.helpful, &changes.useless}) {
    for (const Change& change : *list) EXPECT_THAT(change.what_if, Not(HasSubstr("io-depth"))) << change.sentence;
  }
}

}  // namespace
}  // namespace stoker
