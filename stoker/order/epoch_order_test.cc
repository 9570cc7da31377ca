#include "stoker/order/epoch_order.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "stoker/base/error.h"

namespace stoker {
namespace {

std::vector<std::int64_t> epoch_of(const OrderOptions& options, std::int64_t epoch, int world) {
  const EpochOrder order(options, epoch);
  std::vector<std::int64_t> samples;
  for (std::int64_t g = 0; g < order.batches(); ++g) {
    for (int rank = 0; rank < world; ++rank) {
      const RankSlice slice{rank, world, static_cast<int>(options.global_batch / world)};
      for (int slot = 0; slot < slice.batch; ++slot) {
        samples.push_back(order.sample_at(slice.position(g, slot)).value_or(-1));
      }
    }
  }
  return samples;
}

std::map<std::int64_t, int> counted(const std::vector<std::int64_t>& samples) {
  std::map<std::int64_t, int> counts;
  for (const std::int64_t sample : samples) ++counts[sample];
  return counts;
}

TEST(EpochOrder, IsTheSameForEveryWorldSizeThatDividesTheGlobalBatch) {
  for (const Tail tail : {Tail::kDrop, Tail::kWrap, Tail::kPad, Tail::kKeep}) {
    const OrderOptions options{.samples = 101, .global_batch = 12, .tail = tail, .seed = 9};
    const auto alone = epoch_of(options, 2, 1);
    for (const int world : {2, 3, 4, 6, 12}) EXPECT_EQ(epoch_of(options, 2, world), alone);
  }
}

TEST(EpochOrder, DropLeavesOutTheIncompleteBatch) {
  const auto counts = counted(epoch_of({.samples = 101, .global_batch = 12, .tail = Tail::kDrop}, 0, 1));
  EXPECT_EQ(counts.size(), 96u);
  for (const auto& [sample, count] : counts) EXPECT_EQ(count, 1) << sample;
}

TEST(EpochOrder, WrapFillsTheLastBatchFromTheBeginning) {
  const auto samples = epoch_of({.samples = 101, .global_batch = 12, .tail = Tail::kWrap}, 0, 1);
  ASSERT_EQ(samples.size(), 108u);
  for (std::size_t i = 101; i < 108; ++i) EXPECT_EQ(samples[i], samples[i - 101]);
  EXPECT_EQ(counted(samples).size(), 101u);
}

TEST(EpochOrder, PadCountsEverySampleOnce) {
  const auto counts = counted(epoch_of({.samples = 101, .global_batch = 12, .tail = Tail::kPad}, 0, 4));
  EXPECT_EQ(counts.at(-1), 7);
  EXPECT_EQ(counts.size(), 102u);
  for (const auto& [sample, count] : counts) {
    EXPECT_TRUE(sample < 0 || count == 1) << sample;
  }
}

TEST(EpochOrder, KeepHasTheSlotsOfPadThatAreNoPadding) {
  const std::vector<std::int64_t> shards = {40, 0, 61};
  for (const OrderKind kind : {OrderKind::kGlobal, OrderKind::kWindowed, OrderKind::kNone}) {
    for (const std::int64_t samples : {101, 96, 3}) {
      for (const int world : {1, 2, 3, 4}) {
        OrderOptions options{.samples = samples, .global_batch = 24, .kind = kind, .tail = Tail::kPad, .window = 7};
        options.lanes = 12;
        options.shard_samples = std::make_shared<const std::vector<std::int64_t>>(
            samples == 101 ? shards : std::vector<std::int64_t>{samples});
        const EpochOrder padded(options, 3);
        options.tail = Tail::kKeep;
        const EpochOrder kept(options, 3);
        ASSERT_EQ(kept.batches(), padded.batches());
        for (int rank = 0; rank < world; ++rank) {
          const RankSlice slice{rank, world, 24 / world};
          std::int64_t batches = 0;
          for (std::int64_t g = 0; g < kept.batches(); ++g) {
            int slots = 0;
            for (int slot = 0; slot < slice.batch; ++slot) {
              const std::int64_t position = slice.position(g, slot);
              ASSERT_EQ(kept.sample_at(position), padded.sample_at(position));
              slots += kept.sample_at(position).has_value();
            }
            EXPECT_EQ(kept.slots_of(slice, g), slots);
            EXPECT_EQ(padded.slots_of(slice, g), slice.batch);
            batches += slots > 0 ? 1 : 0;
          }
          EXPECT_EQ(kept.batches_of(slice), batches) << samples << " samples, rank " << rank << " of " << world;
          EXPECT_EQ(padded.batches_of(slice), padded.batches());
        }
      }
    }
  }
}

TEST(EpochOrder, WrapsADataSetSmallerThanABatchSeveralTimes) {
  const auto samples = epoch_of({.samples = 3, .global_batch = 8, .kind = OrderKind::kNone, .tail = Tail::kWrap}, 0, 2);
  EXPECT_EQ(samples, (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 0, 1}));
}

TEST(EpochOrder, NoneKeepsTheOrderOfTheDataSet) {
  EXPECT_EQ(epoch_of({.samples = 5, .global_batch = 2, .kind = OrderKind::kNone}, 3, 1),
            (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(EpochOrder, OfNothingHasNoBatches) {
  for (const Tail tail : {Tail::kDrop, Tail::kWrap, Tail::kPad, Tail::kKeep}) {
    for (const OrderKind kind : {OrderKind::kGlobal, OrderKind::kWindowed, OrderKind::kNone}) {
      EXPECT_EQ(EpochOrder({.samples = 0, .global_batch = 8, .kind = kind, .tail = tail}, 0).batches(), 0);
    }
  }
}

TEST(EpochOrder, NamesRoundTripAndUnknownOnesAreRefused) {
  for (const Tail tail : {Tail::kDrop, Tail::kWrap, Tail::kPad, Tail::kKeep})
    EXPECT_EQ(parse_tail(to_string(tail)), tail);
  for (const OrderKind kind : {OrderKind::kGlobal, OrderKind::kWindowed, OrderKind::kNone}) {
    EXPECT_EQ(parse_order(to_string(kind)), kind);
  }
  EXPECT_THROW(parse_tail("kept"), Error);
  EXPECT_THROW(parse_order("random"), Error);
}

}  // namespace
}  // namespace stoker
