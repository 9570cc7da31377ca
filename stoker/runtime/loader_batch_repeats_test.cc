// Loaders whose samples stand several times in a batch, augmented anew each time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/runtime/engine/memory_plan.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Lines = std::vector<std::string>;

constexpr int kGlobalBatch = 16, kCopies = 4, kBatches = 3;  // of 50 samples

LoaderOptions options_of(OrderKind order = OrderKind::kGlobal) {
  LoaderOptions options{.global_batch = kGlobalBatch, .seed = 5, .threads = 2, .order = order};
  options.batch_repeats = kCopies;
  if (order == OrderKind::kWindowed) options.window = 5, options.lanes = 4;
  return options;
}

TEST(LoaderBatchRepeats, AugmentEachCopyAnew) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), options_of());
  EXPECT_EQ(loader.batches_per_epoch(), kBatches);
  std::set<std::int64_t> seen;
  for (const BatchPtr& batch : loader.epoch(0)) {
    std::map<std::int64_t, std::set<std::string>> hashes;  // by sample
    const Lines lines = audit_of(*batch);
    for (std::size_t slot = 0; slot < kGlobalBatch; ++slot) {
      EXPECT_EQ(batch->sample[slot], batch->sample[slot % (kGlobalBatch / kCopies)]);
      hashes[batch->sample[slot]].insert(lines[slot].substr(lines[slot].rfind(' ')));
    }
    for (const auto& [sample, its] : hashes) {
      EXPECT_EQ(its.size(), std::size_t{kCopies}) << sample;
      EXPECT_TRUE(seen.insert(sample).second) << sample << " came in another batch";
    }
  }
  EXPECT_EQ(seen.size(), std::size_t{kBatches * kGlobalBatch / kCopies});
  EXPECT_EQ(loader.metrics()[Metric::kSamples], kBatches * kGlobalBatch);
}

TEST(LoaderBatchRepeats, AuditsAreTheSameForAnyThreadsCacheAndRanks) {
  const MemoryDataset data = memory_dataset({.bad = {3, 17, 40}});
  for (const OrderKind order : {OrderKind::kGlobal, OrderKind::kWindowed, OrderKind::kNone}) {
    for (const BadSlotPolicy policy : {BadSlotPolicy::kSubstitute, BadSlotPolicy::kSkip}) {
      LoaderOptions options = options_of(order);
      options.bad_sample = policy;
      Loader alone(data.dataset, small_recipe(), options);
      const Lines want = audit_of(alone, 3);
      LoaderOptions others = options;
      for (const int threads : {1, 4}) {
        others.threads = threads;
        others.prefetch = threads == 1 ? 1 : 7;
        others.cache = threads == 1 ? CacheKind::kRam : CacheKind::kNone;
        Loader loader(data.dataset, small_recipe(), others);
        EXPECT_EQ(audit_of(loader, 3), want) << to_string(order);
      }
      for (const int world : {2, 4}) {
        Lines got;
        others = options;
        others.world = world;
        for (int rank = 0; rank < world; ++rank) {
          others.rank = rank;
          Loader loader(data.dataset, small_recipe(), others);
          const Lines more = audit_of(loader, 3);
          got.insert(got.end(), more.begin(), more.end());
        }
        EXPECT_THAT(got, testing::UnorderedElementsAreArray(want)) << to_string(order) << ", world " << world;
      }
    }
  }
}

TEST(LoaderBatchRepeats, GoOnInTheMiddleOfAnEpoch) {
  const MemoryDataset data = memory_dataset({.bad = {3, 17, 40}});
  for (const OrderKind order : {OrderKind::kGlobal, OrderKind::kWindowed, OrderKind::kNone}) {
    for (const Tail tail : {Tail::kDrop, Tail::kWrap}) {
      LoaderOptions options = options_of(order);
      options.tail = tail;
      Loader whole(data.dataset, small_recipe(), options);
      const Lines want = audit_of(whole, 2);
      EXPECT_EQ(want.size(), (tail == Tail::kDrop ? 6U : 8U) * kGlobalBatch);
      Loader before(data.dataset, small_recipe(), options);
      Lines seen = audit_of(*before.next());
      options.threads = 1;
      Loader after(data.dataset, small_recipe(), options);
      after.load_state(before.state());
      for (int epoch = 0; epoch < 2; ++epoch) {
        while (const BatchPtr batch = after.next()) {
          const Lines more = audit_of(*batch);
          seen.insert(seen.end(), more.begin(), more.end());
        }
      }
      EXPECT_EQ(seen, want) << to_string(order) << ", tail " << to_string(tail);
    }
  }
}

TEST(LoaderBatchRepeats, OfABadSampleCountItOnce) {
  const MemoryDataset data = memory_dataset({.bad = {1, 2, 5}});  // of the first two batches
  for (const BadSlotPolicy policy : {BadSlotPolicy::kSubstitute, BadSlotPolicy::kSkip}) {
    LoaderOptions options = options_of(OrderKind::kNone);
    options.bad_sample = policy;
    Loader loader(data.dataset, small_recipe(), options);
    std::map<std::int64_t, int> hit;  // slots of bad samples, by sample
    for (const BatchPtr& batch : loader.epoch(0)) {
      for (std::size_t slot = 0; slot < kGlobalBatch; ++slot) {
        const bool skipped = batch->status[slot] == SlotStatus::kBad;
        if (skipped) ++hit[batch->sample[slot]];
        if (batch->substituted_for[slot] >= 0) ++hit[batch->substituted_for[slot]];
      }
    }
    EXPECT_EQ(hit, (std::map<std::int64_t, int>{{1, kCopies}, {2, kCopies}, {5, kCopies}})) << to_string(policy);
    EXPECT_EQ(loader.metrics()[Metric::kBadSamples], 3);
    EXPECT_EQ(loader.bad_samples().size(), 3U);
  }
}

TEST(LoaderBatchRepeats, ReadASampleOnceWhoseCopiesAreDrawnTogether) {
  const MemoryDataset data = memory_dataset();
  LoaderOptions options = options_of(OrderKind::kNone);
  options.epochs_end = 1;
  Loader loader(data.dataset, small_recipe(), options);
  std::map<std::int64_t, std::uint64_t> bytes;  // by sample
  for (const BatchPtr& batch : loader.epoch(0)) {
    for (const std::int64_t sample : batch->sample) bytes[sample] = data.dataset->row(sample).fields[0].length;
  }
  std::int64_t once = 0;
  for (const auto& [sample, length] : bytes) once += static_cast<std::int64_t>(length);
  EXPECT_GE(loader.metrics()[Metric::kBytesRead], once);
  EXPECT_LT(loader.metrics()[Metric::kBytesRead], 2 * once) << "not four times";
}

TEST(LoaderBatchRepeats, AreTheRecipesUnlessTheLoaderSaysOtherwise) {
  const MemoryDataset data = memory_dataset();
  const Recipe recipe = small_recipe().set_batch_repeats(kCopies);
  const auto lines = [&](const Recipe& of, std::optional<std::int64_t> copies) {
    LoaderOptions options = options_of();
    options.batch_repeats = copies;
    Loader loader(data.dataset, of, options);
    return audit_of(loader, 1);
  };
  const Lines repeated = lines(small_recipe(), kCopies);
  EXPECT_EQ(lines(recipe, std::nullopt), repeated);
  EXPECT_EQ(lines(recipe, kCopies), repeated);
  EXPECT_EQ(lines(recipe, 1), lines(small_recipe(), std::nullopt));
  EXPECT_NE(repeated, lines(small_recipe(), 1));
}

TEST(LoaderBatchRepeats, AreRefusedWhereTheyCannotBe) {
  const MemoryDataset data = memory_dataset();
  const auto refusal = [&](const Recipe& recipe, const LoaderOptions& options) {
    const Error error = error_of([&] { const Loader loader(data.dataset, recipe, options); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.message();
  };
  LoaderOptions options = options_of();
  EXPECT_THAT(refusal(small_recipe().set_tail("pad"), options), HasSubstr("tail pad counts every sample"));
  options.tail = Tail::kKeep;
  EXPECT_THAT(refusal(small_recipe(), options), HasSubstr("tail keep counts every sample"));
  options = options_of();
  options.batch_repeats = 5;
  EXPECT_THAT(refusal(small_recipe(), options),
              HasSubstr("a global batch of 16 cannot hold each of its samples 5 times"));
}

TEST(LoaderBatchRepeats, AreInTheState) {
  const MemoryDataset data = memory_dataset();
  LoaderOptions options = options_of();
  Loader repeated(data.dataset, small_recipe(), options);
  options.batch_repeats.reset();
  Loader once(data.dataset, small_recipe(), options);
  EXPECT_THAT(repeated.state(), HasSubstr("\"batch_repeats\":4"));
  EXPECT_THAT(once.state(), Not(HasSubstr("batch_repeats"))) << "states from before there was such a thing";
  EXPECT_THAT(error_of([&] { once.load_state(repeated.state()); }).what(),
              HasSubstr("batch_repeats was 4 and is now 1"));
  EXPECT_THAT(error_of([&] { repeated.load_state(once.state()); }).what(),
              HasSubstr("batch_repeats was 1 and is now 4"));
}

TEST(LoaderBatchRepeats, DrawAllTicketsOfTheWindowsInUseAhead) {
  const MemoryDataset data = memory_dataset({.samples = 1000, .tiny = true});
  const auto ahead = [&](int world, std::int64_t copies) {
    LoaderOptions options = options_of(OrderKind::kWindowed);
    options.rank = 0;
    options.world = world;
    options.window = 10;
    options.batch_repeats = copies;
    return windows_tickets(resolve_options(*data.dataset, small_recipe(), options));
  };
  EXPECT_EQ(ahead(1, 1), 51) << "four windows, and a quarter more";
  EXPECT_EQ(ahead(1, 4), 201) << "each sample four times";
  EXPECT_EQ(ahead(4, 4), 51) << "all lanes, each once";
  EXPECT_EQ(ahead(2, 2), 51) << "all lanes, each once";
}

}  // namespace
}  // namespace stoker
