// What becomes of samples whose bytes are bad.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>

#include "stoker/base/error_testing.h"
#include "stoker/base/log_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/format/dataset_views.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/open.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using Lines = std::vector<std::string>;

const std::vector<int> kBad = {3, 17, 40};

LoaderOptions options_of(BadSlotPolicy policy) {
  return {.global_batch = 10, .seed = 5, .threads = 1, .bad_sample = policy};
}

TEST(LoaderBadSamples, AreReplacedByTheSameOnesForAnyThreadsAndRanks) {
  const MemoryDataset data = memory_dataset({.bad = kBad});
  const LoaderOptions options = options_of(BadSlotPolicy::kSubstitute);
  Loader alone(data.dataset, small_recipe(), options);
  const Lines want = audit_of(alone, 3);
  EXPECT_EQ(want.size(), 3u * 50);
  EXPECT_EQ(alone.metrics()[Metric::kBadSamples], 3);
  for (const int threads : {1, 2, 8}) {
    for (const int prefetch : {1, 7}) {
      LoaderOptions others = options;
      others.threads = threads;
      others.prefetch = prefetch;
      Loader loader(data.dataset, small_recipe(), others);
      EXPECT_EQ(audit_of(loader, 3), want);
    }
  }
  for (const int world : {2, 5}) {
    Lines got;
    for (int rank = 0; rank < world; ++rank) {
      LoaderOptions one = options;
      one.rank = rank;
      one.world = world;
      Loader loader(data.dataset, small_recipe(), one);
      const Lines more = audit_of(loader, 3);
      got.insert(got.end(), more.begin(), more.end());
    }
    EXPECT_THAT(got, testing::UnorderedElementsAreArray(want));
  }
}

TEST(LoaderBadSamples, AreNamedBesideWhatStandsInForThem) {
  const MemoryDataset data = memory_dataset({.bad = kBad});
  Loader loader(data.dataset, small_recipe(), options_of(BadSlotPolicy::kSubstitute));
  std::set<std::int64_t> replaced;
  audit_of(loader, 2);  // so that what a slot held before is not taken for what it holds
  for (const BatchPtr& batch : loader.epoch(0)) {
    EXPECT_EQ(batch->valid_count(), batch->size());
    for (std::size_t slot = 0; slot < batch->sample.size(); ++slot) {
      EXPECT_THAT(kBad, Each(testing::Ne(batch->sample[slot])));
      EXPECT_EQ(batch->key[slot], data.dataset->key(batch->sample[slot]));
      if (batch->substituted_for[slot] < 0) {
        EXPECT_EQ(batch->substituted_key[slot], "");
        continue;
      }
      replaced.insert(batch->substituted_for[slot]);
      EXPECT_EQ(batch->substituted_key[slot], data.dataset->key(batch->substituted_for[slot]));
    }
  }
  EXPECT_EQ(replaced, (std::set<std::int64_t>{3, 17, 40}));
}

TEST(LoaderBadSamples, AreKnownToTheLoaderThatMetThem) {
  const MemoryDataset data = memory_dataset({.bad = kBad});
  for (const auto policy : {BadSlotPolicy::kSubstitute, BadSlotPolicy::kSkip}) {
    Loader loader(data.dataset, small_recipe(), options_of(policy));
    EXPECT_TRUE(loader.bad_samples().empty());
    audit_of(loader, 2);
    std::vector<std::string> keys;
    for (const BadSample& bad : loader.bad_samples()) {
      keys.push_back(bad.key);
      EXPECT_EQ(bad.shard, "memory.tar");
      EXPECT_THAT(bad.reason, HasSubstr(bad.key));
    }
    EXPECT_THAT(keys, testing::ElementsAre("sample3", "sample17", "sample40"));
  }
}

TEST(LoaderBadSamples, AreToldWithTheBatchThatMetThem) {
  const TempFolder folder;
  const MemoryDataset data = memory_dataset({.bad = kBad});
  LoaderOptions options = options_of(BadSlotPolicy::kSubstitute);
  options.quarantine = folder.path("bad.jsonl");
  for (const bool listed : {false, true}) {
    Loader loader(data.dataset, small_recipe(), options);
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::set<std::string> met;
      for (const BatchPtr& batch : loader.epoch(epoch)) {
        const auto& instead = batch->substituted_for;
        const bool has_some = std::any_of(instead.begin(), instead.end(), [](auto sample) { return sample >= 0; });
        EXPECT_EQ(loader.bad_in_batch().empty(), !has_some);
        for (const MetBadSample& bad : loader.bad_in_batch()) {
          EXPECT_EQ(bad.known, listed);
          met.insert(bad.sample.key);
        }
      }
      EXPECT_THAT(met, testing::UnorderedElementsAre("sample3", "sample17", "sample40")) << "again in each epoch";
    }
  }
}

TEST(LoaderBadSamples, AreSkippedWhereThatIsWanted) {
  const MemoryDataset data = memory_dataset({.bad = kBad});
  Loader loader(data.dataset, small_recipe(), options_of(BadSlotPolicy::kSkip));
  int skipped = 0;
  for (const BatchPtr& batch : loader.epoch(0)) {
    for (int slot = 0; slot < batch->size(); ++slot) {
      if (batch->valid(slot)) continue;
      ++skipped;
      EXPECT_THAT(batch->slot_bytes(0, slot), Each(0));
      EXPECT_EQ(reinterpret_cast<const std::int64_t*>(batch->output("label").data)[slot], -100) << "no class's";
    }
  }
  EXPECT_EQ(skipped, 3);
}

TEST(LoaderBadSamples, EndTheEpochWhereThatIsWanted) {
  const MemoryDataset data = memory_dataset({.bad = kBad});
  Loader loader(data.dataset, small_recipe(), options_of(BadSlotPolicy::kFail));
  EXPECT_EQ(error_of([&] { audit_of(loader, 1); }).kind(), ErrorKind::kBadSample);
  EXPECT_EQ(loader.metrics()[Metric::kBadSamples], 1);
}

TEST(LoaderBadSamples, EndTheEpochWhenTheyAreManyAndAreOthersInTheNext) {
  std::vector<int> bad(11);
  std::iota(bad.begin(), bad.end(), 20);
  const MemoryDataset data = memory_dataset({.bad = bad});
  for (const auto policy : {BadSlotPolicy::kSubstitute, BadSlotPolicy::kSkip}) {
    Loader loader(data.dataset, small_recipe(), options_of(policy));
    const Error error = error_of([&] { audit_of(loader, 1); });
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("11 bad samples"), HasSubstr("more than the 10"),
                                    HasSubstr("--quarantine FILE"), HasSubstr("quarantine=")));
    EXPECT_EQ(loader.metrics()[Metric::kBadSamples], 11);
  }
  bad.pop_back();
  const MemoryDataset fewer = memory_dataset({.bad = bad});
  Loader loader(fewer.dataset, small_recipe(), options_of(BadSlotPolicy::kSubstitute));
  EXPECT_EQ(audit_of(loader, 3).size(), 3u * 50) << "ten of them in each epoch";
}

TEST(LoaderBadSamples, AreCountedFromWhereRequestsBegin) {
  std::vector<int> bad(12);
  std::iota(bad.begin(), bad.end(), 0);
  const MemoryDataset data = memory_dataset({.bad = bad});
  LoaderOptions options = options_of(BadSlotPolicy::kSkip);
  options.order = OrderKind::kNone;
  Loader loader(data.dataset, small_recipe(), options);
  for (const std::int64_t batch : {0, 1}) {  // ten of them, and two
    loader.start_requests();
    loader.request({0, batch});
    EXPECT_EQ(loader.next()->valid_count(), batch == 0 ? 0 : 8);
  }
}

TEST(LoaderBadSamples, LeaveNoSubstituteWhereAllAreBad) {
  const MemoryDataset data = memory_dataset({.samples = 5, .bad = {0, 1, 2, 3, 4}});
  Loader loader(data.dataset, small_recipe(), {.batch = 1, .threads = 2});
  const Error error = error_of([&] { audit_of(loader, 1); });
  EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
  EXPECT_THAT(error.what(), HasSubstr("none of 4 others"));
}

TEST(LoaderBadSamples, OfWhichOneIsGoodAreAllReplacedByThat) {
  const MemoryDataset data = memory_dataset({.samples = 5, .bad = {0, 1, 3, 4}});
  Loader loader(data.dataset, small_recipe(), {.batch = 5, .threads = 2});
  for (const BatchPtr& batch : loader.epoch(0)) EXPECT_THAT(batch->sample, Each(2));
}

TEST(LoaderBadSamples, AreWrittenDownAndKnownTheNextTime) {
  const TempFolder folder;
  const std::string list = folder.path("bad.jsonl");
  const MemoryDataset data = memory_dataset({.bad = kBad});
  LoaderOptions options = options_of(BadSlotPolicy::kSubstitute);
  options.quarantine = list;
  Lines want;
  {
    Loader loader(data.dataset, small_recipe(), options);
    want = audit_of(loader, 2);
  }
  std::ifstream file(list);
  std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("\"key\":\"sample17\""), HasSubstr("\"reason\"")));
  // The samples are good now, but the list still says that they are not.
  const MemoryDataset good = memory_dataset();
  Loader loader(good.dataset, small_recipe(), options);
  EXPECT_EQ(audit_of(loader, 2), want);
  std::ifstream again(list);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(again), {}), text) << "nothing is written twice";
}

TEST(LoaderBadSamples, ThatAreListedEndNoEpochThatNewOnesEnd) {
  const TempFolder folder;
  LoaderOptions options = options_of(BadSlotPolicy::kSubstitute);
  options.quarantine = folder.path("bad.jsonl");
  const MemoryDataset data = memory_dataset({.bad = kBad});
  Loader listing(data.dataset, small_recipe(), options);
  const Lines want = audit_of(listing, 2);
  options.bad_sample = BadSlotPolicy::kFail;
  Loader loader(data.dataset, small_recipe(), options);
  EXPECT_EQ(audit_of(loader, 2), want);
  const MemoryDataset worse = memory_dataset({.bad = {3, 17, 21, 40}});
  Loader failing(worse.dataset, small_recipe(), options);
  EXPECT_THAT(error_of([&] { audit_of(failing, 2); }).what(), HasSubstr("sample21"));
}

TEST(LoaderBadSamples, OfAListWhoseLastLineWasTornAreReadNevertheless) {
  const TempFolder folder;
  LoaderOptions options = options_of(BadSlotPolicy::kSubstitute);
  options.quarantine = folder.write("bad.jsonl",
                                    "{\"shard\":\"memory.tar\",\"key\":\"sample3\",\"offset\":0,\"reason\":\"\"}\n"
                                    "{\"shard\":\"memory.tar\",\"key\":\"sam");
  const MemoryDataset data = memory_dataset({.bad = kBad});
  Loader loader(data.dataset, small_recipe(), options);
  audit_of(loader, 1);
  EXPECT_EQ(loader.metrics()[Metric::kBadSamples], 3);
  Loader again(data.dataset, small_recipe(), options);
  EXPECT_EQ(audit_of(again, 1).size(), 50u) << "the list is whole again";
}

TEST(LoaderBadSamples, AreNoneThatWereGivenNoLabel) {
  const TempFolder folder;
  const std::string path = folder.path("data.tar");
  TarWriter tar(path);
  for (const char* const key : {"a", "b"}) {
    tar.add(fmt::format("{}.jpg", key), noisy_jpeg(20, 20, 1));
    tar.add(fmt::format("{}.cls", key), as_bytes("5"));
  }
  tar.finish();
  Loader loader(with_labels(open(path), {-1, 1}, {}), small_recipe(),
                {.batch = 2, .order = OrderKind::kNone, .bad_sample = BadSlotPolicy::kFail});
  const BatchPtr batch = loader.next();
  const auto* const labels = reinterpret_cast<const std::int64_t*>(batch->output("label").data);
  EXPECT_EQ(labels[0], -1);
  EXPECT_EQ(labels[1], 1);
}

TEST(LoaderBadSamples, AreNoReasonToWriteOverOtherFiles) {
  const TempFolder folder;
  const MemoryDataset data = memory_dataset();
  LoaderOptions options = options_of(BadSlotPolicy::kSubstitute);
  options.quarantine = folder.write("notes.txt", "not a list\n");
  EXPECT_EQ(error_of([&] { Loader(data.dataset, small_recipe(), options); }).kind(), ErrorKind::kUsage);
}

TEST(LoaderBadSamples, AreToldOnceAndCountedAtTheEpochsEnd) {
  const MemoryDataset data = memory_dataset({.bad = kBad});
  Loader loader(data.dataset, small_recipe(), options_of(BadSlotPolicy::kSubstitute));
  const LogCapture log;
  audit_of(loader, 2);
  EXPECT_EQ(std::count_if(log.lines.begin(), log.lines.end(),
                          [](const std::string& line) { return line.starts_with("bad sample: "); }),
            3);
  EXPECT_THAT(log.lines, testing::Contains(HasSubstr("bad samples in epoch 1: 3")));
}

TEST(LoaderBadSamples, StopNothingThatIsLeft) {
  const MemoryDataset data = memory_dataset({.bad = kBad});
  Loader loader(data.dataset, small_recipe(), options_of(BadSlotPolicy::kSubstitute));
  Loader whole(data.dataset, small_recipe(), options_of(BadSlotPolicy::kSubstitute));
  const Lines want = audit_of(whole, 4);
  for (int epoch = 0; epoch < 4; ++epoch) {  // left while samples are being replaced
    loader.start_epoch(3 - epoch);
    loader.next();
  }
  EXPECT_EQ(audit_of(loader, 4), want);
}

}  // namespace
}  // namespace stoker
