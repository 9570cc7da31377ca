// Orders in which each sample of a global batch stands in it several times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/order/epoch_order.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

OrderOptions options_of(OrderKind kind, std::int64_t samples, std::int64_t different, std::int64_t copies) {
  OrderOptions options{.samples = samples, .global_batch = different * copies, .kind = kind, .seed = 7};
  options.batch_repeats = copies;
  options.window = 3;
  options.lanes = 1;
  options.shard_samples = std::make_shared<const std::vector<std::int64_t>>(
      std::vector<std::int64_t>{samples / 3, 0, samples - samples / 3});
  return options;
}

// Calls `check(options)` for every kind of order, tail, and combination of small numbers.
template <typename Check>
void for_each_small_order(Check check) {
  for (const OrderKind kind : {OrderKind::kGlobal, OrderKind::kWindowed, OrderKind::kNone}) {
    for (const Tail tail : {Tail::kDrop, Tail::kWrap}) {
      for (const std::int64_t samples : {1, 2, 7, 12, 25}) {
        for (std::int64_t different = 1; different <= 6; ++different) {
          for (std::int64_t copies = 1; copies <= 4; ++copies) {
            OrderOptions options = options_of(kind, samples, different, copies);
            options.tail = tail;
            SCOPED_TRACE(testing::Message() << to_string(kind) << ", tail " << to_string(tail) << ", " << samples
                                            << " samples, " << different << " x " << copies << " slots");
            check(options);
            if (testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
}

std::vector<std::int64_t> batch_of(const EpochOrder& order, const OrderOptions& options, std::int64_t g) {
  std::vector<std::int64_t> samples;
  for (std::int64_t slot = 0; slot < options.global_batch; ++slot) {
    samples.push_back(order.sample_at(g * options.global_batch + slot).value());
  }
  return samples;
}

TEST(BatchRepeats, ShowTheSamplesOfTheOrderWithoutThemSeveralTimes) {
  for_each_small_order([](const OrderOptions& options) {
    check_order(options, 1);
    OrderOptions once = options;
    once.global_batch = options.different_slots();
    once.batch_repeats = 1;
    for (const std::int64_t epoch : {0, 3}) {
      const EpochOrder order(options, epoch), plain(once, epoch);
      for (std::int64_t g = 0; g < order.batches(); ++g) {
        std::vector<std::int64_t> want;
        const std::vector<std::int64_t> part = batch_of(plain, once, g);
        for (std::int64_t copy = 0; copy < options.batch_repeats; ++copy) {
          want.insert(want.end(), part.begin(), part.end());
        }
        EXPECT_EQ(batch_of(order, options, g), want) << "batch " << g;
      }
    }
  });
}

TEST(BatchRepeats, LeaveTheLengthOfAnEpoch) {
  for_each_small_order([](const OrderOptions& options) {
    OrderOptions once = options;
    once.batch_repeats = 1;
    EXPECT_EQ(EpochOrder(options, 1).batches(), EpochOrder(once, 1).batches());
  });
}

TEST(BatchRepeats, ShowNoSampleInTwoBatchesOfAnEpoch) {
  for_each_small_order([](const OrderOptions& options) {
    if (options.tail != Tail::kDrop) return;
    const EpochOrder order(options, 2);
    std::map<std::int64_t, std::int64_t> counts;
    for (std::int64_t g = 0; g < order.batches(); ++g) {
      for (const std::int64_t sample : batch_of(order, options, g)) ++counts[sample];
    }
    EXPECT_EQ(static_cast<std::int64_t>(counts.size()), order.batches() * options.different_slots());
    for (const auto& [sample, count] : counts) EXPECT_EQ(count, options.batch_repeats) << sample;
  });
}

TEST(BatchRepeats, PutCopiesOnDifferentRanksIfThereAreEnough) {
  for_each_small_order([](const OrderOptions& options) {
    const EpochOrder order(options, 2);
    if (options.samples < options.global_batch) return;  // a batch wraps around the data set
    for (int world = static_cast<int>(options.batch_repeats); world <= options.global_batch; ++world) {
      if (options.global_batch % world != 0) continue;
      std::map<std::int64_t, std::set<int>> ranks;
      for (int rank = 0; rank < world; ++rank) {
        const RankSlice slice{rank, world, static_cast<int>(options.global_batch / world)};
        for (int slot = 0; slot < slice.batch; ++slot) ranks[*order.sample_at(slice.position(0, slot))].insert(rank);
      }
      for (const auto& [sample, its] : ranks) {
        EXPECT_EQ(static_cast<std::int64_t>(its.size()), options.batch_repeats) << sample << ", " << world << " ranks";
      }
    }
  });
}

TEST(BatchRepeats, LeavePartnersOfAPairDifferent) {
  for_each_small_order([](const OrderOptions& options) {
    if (options.different_slots() < 2 || options.samples < options.global_batch) return;
    const std::vector<std::int64_t> batch = batch_of(EpochOrder(options, 0), options, 0);
    for (std::size_t slot = 0; slot + 1 < batch.size(); slot += 2) EXPECT_NE(batch[slot], batch[slot + 1]) << slot;
  });
}

TEST(BatchRepeats, OfSeveralLanesKeepEachRankToItsOwn) {
  OrderOptions options = options_of(OrderKind::kWindowed, 96, 8, 2);
  options.lanes = 4;
  const EpochOrder order(options, 0);
  const auto samples_of = [&](int rank, int world) {
    std::set<std::int64_t> samples;
    const RankSlice slice{rank, world, 16 / world};
    for (std::int64_t g = 0; g < order.batches(); ++g) {
      for (int slot = 0; slot < slice.batch; ++slot) samples.insert(*order.sample_at(slice.position(g, slot)));
    }
    return samples;
  };
  check_order(options, 4);
  EXPECT_EQ(order.batches(), 6);
  // Ranks 0 and 2 read lanes 0 and 1, ranks 1 and 3 the other two.
  EXPECT_EQ(samples_of(0, 4), samples_of(2, 4));
  EXPECT_EQ(samples_of(1, 4), samples_of(3, 4));
  EXPECT_EQ(samples_of(0, 4).size(), 24U);
  std::set<std::int64_t> both = samples_of(0, 4);
  both.merge(samples_of(1, 4));
  EXPECT_EQ(both.size(), 48U);
}

TEST(BatchRepeats, LetAMixtureGoOnWhereTheEpochBeforeEnded) {
  for (const Tail tail : {Tail::kDrop, Tail::kWrap}) {
    OrderOptions options{.samples = 133, .global_batch = 12, .tail = tail, .seed = 5, .batch_repeats = 3};
    options.mixture = {{100, 3}, {33, 1}};
    const MixedOrder stream(options);
    std::int64_t draw = 0;
    for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
      const EpochOrder order(options, epoch);
      EXPECT_EQ(order.batches(), tail == Tail::kDrop ? 11 : 12);
      for (std::int64_t g = 0; g < order.batches(); ++g) {
        const std::vector<std::int64_t> batch = batch_of(order, options, g);
        for (std::size_t slot = 0; slot < batch.size(); ++slot) {
          ASSERT_EQ(batch[slot], stream.sample_at(draw + static_cast<std::int64_t>(slot % 4))) << epoch << ", " << g;
        }
        draw += 4;
      }
    }
  }
}

TEST(BatchRepeats, WorkBesideRepeatsThatMakeAnEpochLonger) {
  OrderOptions options = options_of(OrderKind::kNone, 10, 4, 2);
  options.repeats = 2;
  check_order(options, 1);
  const EpochOrder order(options, 0);
  EXPECT_EQ(order.batches(), 2);
  EXPECT_THAT(batch_of(order, options, 1), ElementsAre(2, 2, 3, 3, 2, 2, 3, 3));
}

TEST(BatchRepeats, RefuseWhatCannotBeSaying) {
  const auto refusal = [](const OrderOptions& options, int world = 1) {
    const Error error = error_of([&] { check_order(options, world); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.message();
  };
  OrderOptions options = options_of(OrderKind::kGlobal, 100, 8, 4);
  options.batch_repeats = 0;
  EXPECT_THAT(refusal(options), HasSubstr("batch_repeats must be at least 1, not 0"));
  options.batch_repeats = 3;
  EXPECT_THAT(refusal(options), HasSubstr("a global batch of 32 cannot hold each of its samples 3 times; use one that "
                                          "is a multiple of 3"));
  options.batch_repeats = 64;
  EXPECT_THAT(refusal(options), HasSubstr("a multiple of 64"));
  options.batch_repeats = 4;
  for (const Tail tail : {Tail::kPad, Tail::kKeep}) {
    options.tail = tail;
    EXPECT_THAT(refusal(options), HasSubstr("use batch_repeats 1, or tail drop or wrap")) << to_string(tail);
  }
  options = options_of(OrderKind::kWindowed, 100, 6, 4);
  EXPECT_THAT(refusal(options, 4), HasSubstr("cannot divide the 6 different samples of a global batch among 4 ranks"));
  options.lanes = 4;
  EXPECT_THAT(refusal(options), HasSubstr("a global batch of 6 cannot be divided among 4 lanes")) << "not 24";
}

}  // namespace
}  // namespace stoker
