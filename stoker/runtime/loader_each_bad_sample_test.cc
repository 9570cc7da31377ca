// Each sample of a shard is bad in turn: one slot of an epoch is another, and it is the same one for any number of
// threads and ranks.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/watchdog_testing.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kSamples = 12, kGlobalBatch = 4;

/// What stood in a slot of an epoch.
struct Slot {
  std::int64_t position = 0, sample = 0, substituted_for = -1;
  bool valid = true;
  std::string key, audit;

  friend bool operator==(const Slot&, const Slot&) = default;
};

class EachBadSample : public ::testing::Test {
 protected:
  static LoaderOptions options(BadSlotPolicy policy, int threads) {
    return {.global_batch = kGlobalBatch, .seed = 3, .threads = threads, .bad_sample = policy, .epochs_end = 2};
  }

  /// Both epochs by all ranks together, in order.
  static std::vector<Slot> slots_of(const MemoryDataset& data, LoaderOptions options, int world) {
    std::vector<Slot> slots;
    for (int rank = 0; rank < world; ++rank) {
      options.rank = rank;
      options.world = world;
      Loader loader(data.dataset, small_recipe(), options);
      for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
        for (const BatchPtr& batch : loader.epoch(epoch)) add_slots(*batch, slots);
      }
    }
    std::sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) { return a.position < b.position; });
    return slots;
  }

  static void add_slots(const Batch& batch, std::vector<Slot>& slots) {
    auto line = [lines = audit_of(batch), next = std::size_t{0}]() mutable { return lines[next++]; };
    for (int i = 0; i < batch.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      slots.push_back({.position = batch.epoch * kSamples + batch.position[at],
                       .sample = batch.sample[at],
                       .substituted_for = batch.substituted_for[at],
                       .valid = batch.valid(i),
                       .key = batch.key[at],
                       .audit = batch.valid(i) ? line() : ""});
    }
  }

  /// For each sample: slots when all are good, and when that one is bad, which have to be the same for any threads and
  /// ranks.
  template <typename Check>
  static void for_each_bad(BadSlotPolicy policy, const Check& check) {
    Watchdog watchdog;
    const std::vector<Slot> good = slots_of(memory_dataset({.samples = kSamples}), options(policy, 1), 1);
    ASSERT_EQ(good.size(), 2u * kSamples);
    for (int bad = 0; bad < kSamples; ++bad) {
      watchdog.begin(fmt::format("sample {}", bad));
      const MemoryDataset data = memory_dataset({.samples = kSamples, .bad = {bad}});
      const std::vector<Slot> first = slots_of(data, options(policy, 1), 1);
      for (const int threads : {1, 3}) {
        for (const int world : {1, 2, 4}) {
          ASSERT_TRUE(slots_of(data, options(policy, threads), world) == first)
              << bad << ": " << threads << ", " << world;
        }
      }
      ASSERT_EQ(first.size(), good.size());
      for (std::size_t at = 0; at < good.size(); ++at) check(good[at], first[at], bad);
    }
  }
};

TEST_F(EachBadSample, IsReplacedInItsSlotAlone) {
  for_each_bad(BadSlotPolicy::kSubstitute, [](const Slot& good, const Slot& slot, int bad) {
    if (good.sample != bad) {
      EXPECT_TRUE(slot == good) << bad;
      return;
    }
    EXPECT_EQ(slot.substituted_for, bad);
    EXPECT_NE(slot.sample, bad);
    EXPECT_EQ(slot.key, fmt::format("sample{}", slot.sample));
    EXPECT_TRUE(slot.valid);
    EXPECT_NE(slot.audit, good.audit);
  });
}

TEST_F(EachBadSample, IsSkippedInItsSlotAlone) {
  for_each_bad(BadSlotPolicy::kSkip, [](const Slot& good, const Slot& slot, int bad) {
    if (good.sample != bad) {
      EXPECT_TRUE(slot == good) << bad;
      return;
    }
    EXPECT_FALSE(slot.valid);
    EXPECT_EQ(slot.sample, bad);
    EXPECT_EQ(slot.substituted_for, -1);
  });
}

TEST_F(EachBadSample, IsNamedWhereItEndsTheEpochOfTheRankThatMeetsIt) {
  Watchdog watchdog;
  for (int bad = 0; bad < kSamples; ++bad) {
    watchdog.begin(fmt::format("sample {}", bad));
    const MemoryDataset data = memory_dataset({.samples = kSamples, .bad = {bad}});
    for (const int threads : {1, 3}) {
      for (const int world : {1, 2, 4}) {
        int failed = 0;
        for (int rank = 0; rank < world; ++rank) {
          LoaderOptions one = options(BadSlotPolicy::kFail, threads);
          one.rank = rank;
          one.world = world;
          Loader loader(data.dataset, small_recipe(), one);
          try {
            audit_of(loader, 1);
          } catch (const Error& error) {
            ++failed;
            EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
            EXPECT_THAT(error.what(), AllOf(HasSubstr("memory.tar"), HasSubstr(fmt::format("'sample{}'", bad))));
          }
        }
        EXPECT_EQ(failed, 1) << bad << ": " << threads << ", " << world;
      }
    }
  }
}

}  // namespace
}  // namespace stoker
