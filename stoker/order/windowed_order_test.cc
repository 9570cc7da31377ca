#include "stoker/order/windowed_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/hash.h"
#include "stoker/order/epoch_order.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

OrderOptions windowed(Numbers shard_samples, std::int64_t global_batch, int lanes, std::int64_t window,
                      Tail tail = Tail::kDrop) {
  return {.samples = std::accumulate(shard_samples.begin(), shard_samples.end(), std::int64_t{0}),
          .global_batch = global_batch,
          .kind = OrderKind::kWindowed,
          .tail = tail,
          .seed = 7,
          .window = window,
          .lanes = lanes,
          .shard_samples = std::make_shared<Numbers>(std::move(shard_samples))};
}

// All positions of an epoch; -1 for padding.
Numbers epoch_of(const OrderOptions& options, std::int64_t epoch) {
  const EpochOrder order(options, epoch);
  Numbers samples;
  for (std::int64_t position = 0; position < order.batches() * options.global_batch; ++position) {
    samples.push_back(order.sample_at(position).value_or(-1));
  }
  return samples;
}

// The samples that one lane reads in an epoch, without padding.
Numbers lane_of(const OrderOptions& options, std::int64_t epoch, int lane) {
  const Numbers all = epoch_of(options, epoch);
  const auto batch = static_cast<std::size_t>(options.global_batch);
  const std::size_t slots = batch / static_cast<std::size_t>(options.lanes);
  Numbers samples;
  for (std::size_t position = 0; position < all.size(); ++position) {
    if (position % batch / slots == static_cast<std::size_t>(lane) && all[position] >= 0) {
      samples.push_back(all[position]);
    }
  }
  return samples;
}

std::map<std::int64_t, int> counted(const Numbers& samples) {
  std::map<std::int64_t, int> counts;
  for (const std::int64_t sample : samples) ++counts[sample];
  return counts;
}

std::vector<OrderOptions> many_options(Tail tail) {
  std::vector<OrderOptions> all;
  const std::vector<Numbers> shardings = {{1},    {3},       {100},           {96, 0, 0, 4},           {0, 0, 57, 0},
                                          {1, 2}, {7, 0, 7}, {13, 200, 1, 5}, Numbers(40, 9),          {64, 64, 64, 64},
                                          {0, 1}, {257},     {500, 12},       {1, 1, 1, 1, 1, 1, 1, 1}};
  for (const Numbers& shards : shardings) {
    for (const int lanes : {1, 2, 3, 8}) {
      for (const std::int64_t lane_slots : {1, 2, 5}) {
        for (const std::int64_t window : {1, 2, 10, 64, 1000}) {
          all.push_back(windowed(shards, lane_slots * lanes, lanes, window, tail));
        }
      }
    }
  }
  return all;
}

std::string described(const OrderOptions& options) {
  return testing::PrintToString(*options.shard_samples) + " in batches of " + std::to_string(options.global_batch) +
         ", " + std::to_string(options.lanes) + " lanes, a window of " + std::to_string(options.window);
}

TEST(WindowedOrder, DropDeliversNoSampleTwice) {
  for (const OrderOptions& options : many_options(Tail::kDrop)) {
    const Numbers samples = epoch_of(options, 1);
    EXPECT_EQ(std::ssize(samples), options.samples / options.global_batch * options.global_batch);
    const auto counts = counted(samples);
    EXPECT_EQ(counts.size(), samples.size()) << described(options);
    EXPECT_TRUE(counts.empty() || (counts.begin()->first >= 0 && counts.rbegin()->first < options.samples))
        << described(options);
  }
}

TEST(WindowedOrder, PadDeliversEverySampleOnceAndPadsTheLastBatchAlone) {
  for (const OrderOptions& options : many_options(Tail::kPad)) {
    const Numbers samples = epoch_of(options, 2);
    auto counts = counted(samples);
    EXPECT_EQ(counts[-1], std::ssize(samples) - options.samples) << described(options);
    counts.erase(-1);
    EXPECT_EQ(std::ssize(counts), options.samples) << described(options);
    for (const auto& [sample, count] : counts) EXPECT_EQ(count, 1) << sample << " of " << described(options);
    const auto padding = std::find(samples.begin(), samples.end(), -1);
    EXPECT_LT(samples.end() - padding, options.global_batch) << described(options);
  }
}

TEST(WindowedOrder, WrapFillsTheLastBatchFromEachLanesBeginning) {
  for (const OrderOptions& options : many_options(Tail::kWrap)) {
    OrderOptions padded = options;
    padded.tail = Tail::kPad;
    const Numbers samples = epoch_of(options, 3), unfilled = epoch_of(padded, 3);
    ASSERT_EQ(samples.size(), unfilled.size());
    const std::set<std::int64_t> all(samples.begin(), samples.end());
    EXPECT_EQ(std::ssize(all), options.samples) << described(options);
    EXPECT_TRUE(*all.begin() == 0 && *all.rbegin() == options.samples - 1) << described(options);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (unfilled[i] >= 0) {
        ASSERT_EQ(samples[i], unfilled[i]) << described(options);
      }
    }
  }
  const OrderOptions options = windowed({10}, 8, 2, 4, Tail::kWrap);  // lanes of 5, filled up to 8
  for (const int lane : {0, 1}) {
    const Numbers samples = lane_of(options, 0, lane);
    ASSERT_EQ(samples.size(), 8u);
    for (std::size_t i = 5; i < 8; ++i) EXPECT_EQ(samples[i], samples[i - 5]);
  }
}

TEST(WindowedOrder, RanksOfEveryWorldShareTheBatchesAndFewShards) {
  constexpr int kLanes = 12, kBatch = 24, kShards = 60, kShardSamples = 10;
  const OrderOptions options = windowed(Numbers(kShards, kShardSamples), kBatch, kLanes, 20);
  const EpochOrder order(options, 5);
  for (const int world : {1, 2, 3, 4, 6, 12}) {
    std::set<std::int64_t> delivered;
    for (int rank = 0; rank < world; ++rank) {
      const RankSlice slice{rank, world, kBatch / world};
      std::set<std::int64_t> shards;
      for (std::int64_t batch = 0; batch < order.batches(); ++batch) {
        for (int slot = 0; slot < slice.batch; ++slot) {
          const std::int64_t sample = *order.sample_at(slice.position(batch, slot));
          EXPECT_TRUE(delivered.insert(sample).second) << sample;
          shards.insert(sample / kShardSamples);
        }
      }
      // A rank's lanes lie end to end, so only the first and last shard are another rank's too.
      EXPECT_LE(std::ssize(shards), kShards / world + 1) << "world " << world;
    }
    EXPECT_EQ(std::ssize(delivered), order.batches() * kBatch);
  }
}

TEST(WindowedOrder, ALaneStaysWithinAWindowOfWhereItHasGot) {
  constexpr std::int64_t kSamples = 10000, kWindow = 64;
  const OrderOptions options = windowed({kSamples}, 16, 4, kWindow, Tail::kPad);
  for (int lane = 0; lane < 4; ++lane) {
    const Numbers samples = lane_of(options, 1, lane);
    ASSERT_EQ(samples.size(), 2500u);
    std::int64_t backwards = 0;
    for (std::size_t i = 1; i < samples.size(); ++i) {
      // When the only shard ends, somewhere in a lane, it continues at its beginning.
      const std::int64_t apart = std::abs(samples[i] - samples[i - 1]);
      EXPECT_LT(std::min(apart, kSamples - apart), 2 * kWindow);
      backwards += samples[i] < samples[i - 1];
    }
    EXPECT_GT(backwards, 2500 / 3);  // half of the steps, except those into the next window
  }
}

TEST(WindowedOrder, ALaneReadsFewShardsAtATime) {
  constexpr std::int64_t kShardSamples = 50, kWindow = 100;
  const OrderOptions options = windowed(Numbers(200, kShardSamples), 8, 4, kWindow);
  for (int lane = 0; lane < 4; ++lane) {
    const Numbers samples = lane_of(options, 0, lane);
    for (std::size_t from = 0; from + kWindow <= samples.size(); ++from) {
      std::set<std::int64_t> shards;
      for (std::size_t i = from; i < from + kWindow; ++i) shards.insert(samples[i] / kShardSamples);
      ASSERT_LE(shards.size(), 5u);  // two windows are four shards long
    }
  }
}

TEST(WindowedOrder, LanesEnterTheirWindowsInTurn) {
  constexpr std::int64_t kWindow = 256, kLane = 2048, kSamples = 4 * kLane;
  const std::int64_t first = epoch_of(windowed({kSamples}, 4, 4, 1), 9).front();  // of the epoch, unshuffled
  for (int lane = 0; lane < 4; ++lane) {
    const Numbers samples = lane_of(windowed({kSamples}, 4, 4, kWindow), 9, lane);
    ASSERT_EQ(std::ssize(samples), kLane);
    for (std::int64_t begin = kWindow - lane * kWindow / 4; begin < kLane; begin += kWindow) {
      // Before a window begins, everything before it has been read, and nothing else.
      for (std::int64_t i = 0; i < kLane; ++i) {
        const std::int64_t place =
            (samples[static_cast<std::size_t>(i)] - first - lane * kLane + 2 * kSamples) % kSamples;
        ASSERT_EQ(place < begin, i < begin) << "lane " << lane << ", window at " << begin;
      }
    }
  }
}

TEST(WindowedOrder, TellsWhichWindowsBeganBeforeABatch) {
  constexpr std::int64_t kWindow = 256, kLane = 2048, kBatch = 8, kSlots = 2;  // of a lane in a batch
  const EpochOrder order(windowed({4 * kLane}, kBatch, 4, kWindow), 3);
  for (const std::int64_t from : {0, 1, 40, 128, 129, 500}) {
    for (std::int64_t position = from * kBatch; position < order.batches() * kBatch; ++position) {
      const std::int64_t lane = position % kBatch / kSlots, index = position / kBatch * kSlots + position % kSlots;
      const std::int64_t ahead = lane * kWindow / 4;
      const std::int64_t begin = std::max<std::int64_t>((index + ahead) / kWindow * kWindow - ahead, 0);
      ASSERT_EQ(order.window_began_by(position, from), begin == 0 || begin < from * kSlots)
          << "from " << from << ", position " << position;
    }
  }
  OrderOptions shuffled = windowed({4 * kLane}, kBatch, 4, kWindow);
  shuffled.kind = OrderKind::kGlobal;
  EXPECT_FALSE(EpochOrder(shuffled, 3).window_began_by(0, 1));
}

TEST(WindowedOrder, ReachesEveryArrangementWithinAWindow) {
  constexpr std::int64_t kWindows = 12000;
  for (const auto& [window, arrangements] : {std::pair<std::int64_t, int>{2, 2}, {3, 6}, {4, 24}}) {
    const Numbers samples = epoch_of(windowed({window * kWindows}, window, 1, window), 0);
    std::map<Numbers, int> counts;
    for (auto begin = samples.begin(); begin != samples.end(); begin += window) {
      Numbers arrangement(begin, begin + window);
      const std::int64_t least = *std::min_element(arrangement.begin(), arrangement.end());
      for (std::int64_t& sample : arrangement) sample -= least;
      // Except for the window in which the only shard ends.
      if (*std::max_element(arrangement.begin(), arrangement.end()) == window - 1) ++counts[arrangement];
    }
    ASSERT_EQ(std::ssize(counts), arrangements);
    double chi_square = 0;
    const double expected = static_cast<double>(kWindows) / arrangements;
    for (const auto& [arrangement, count] : counts) chi_square += (count - expected) * (count - expected) / expected;
    EXPECT_LT(chi_square, 60) << "a window of " << window;  // odds of 1e-5 for 24 cells, less for fewer
  }
}

TEST(WindowedOrder, AWindowAsLongAsALaneShufflesAllOfIt) {
  for (const std::int64_t window : {std::int64_t{2500}, std::numeric_limits<std::int64_t>::max()}) {
    const Numbers samples = lane_of(windowed({10000}, 4, 4, window), 2, 2);
    double distance = 0;
    for (std::size_t i = 1; i < samples.size(); ++i) {
      const std::int64_t apart = std::abs(samples[i] - samples[i - 1]);
      distance += static_cast<double>(std::min(apart, 10000 - apart));
    }
    // Two uniform places in a lane lie a third of it apart on average.
    EXPECT_NEAR(distance / 2499 / 2500, 1.0 / 3, 0.02) << window;
  }
}

TEST(WindowedOrder, DiffersBySeedAndByEpochEvenOfOneShardThatIsNotShuffled) {
  for (const OrderOptions& options : {windowed(Numbers(30, 20), 10, 2, 16), windowed({600}, 10, 2, 1)}) {
    OrderOptions reseeded = options;
    reseeded.seed = 8;
    EXPECT_NE(epoch_of(options, 0), epoch_of(options, 1));
    EXPECT_NE(epoch_of(options, 0), epoch_of(reseeded, 0));
    EXPECT_EQ(epoch_of(options, 1), epoch_of(options, 1));
  }
}

TEST(WindowedOrder, ShufflesWhichShardsFollowEachOther) {
  // With windows of one sample the lane shows the shards as they were laid, from the middle of one on.
  const auto laid = [](std::int64_t epoch) {
    const Numbers samples = epoch_of(windowed(Numbers(50, 2), 2, 1, 1), epoch);
    Numbers shards;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::int64_t shard = samples[i] / 2;
      if (shards.empty() || shards.back() != shard) shards.push_back(shard);
    }
    return shards;
  };
  int in_place = 0;
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    const Numbers shards = laid(epoch);
    ASSERT_GE(shards.size(), 50u);
    for (std::size_t i = 1; i < shards.size(); ++i) in_place += shards[i] == (shards[i - 1] + 1) % 50;
  }
  EXPECT_NEAR(in_place, 20, 18);  // one of fifty follows by chance, in each epoch
}

TEST(WindowedOrder, KeepsItsGoldenOrder) {
  EXPECT_EQ(epoch_of(windowed({5, 0, 7, 4}, 4, 2, 3, Tail::kPad), 3),
            (Numbers{6, 7, 3, 2, 8, 10, 12, 4, 11, 9, 13, 5, 1, 0, 15, 14}));
  Numbers shards;
  for (std::int64_t i = 0; i < 1000; ++i) shards.push_back(1 + i * i % 1000);
  const Numbers samples = epoch_of(windowed(shards, 256, 8, 1024, Tail::kWrap), 3);
  const Bytes bytes(reinterpret_cast<const std::uint8_t*>(samples.data()), samples.size() * sizeof(samples[0]));
  EXPECT_EQ(to_hex(hash64(bytes)), "7caa4fa6c1a6af8d");
}

TEST(WindowedOrder, RefusesLanesThatDoNotDivideSayingWhichWould) {
  const auto refusal = [](std::int64_t global_batch, int lanes, std::int64_t window, int world) {
    const OrderOptions options = windowed({100}, global_batch, lanes, window);
    const Error error = error_of([&] { check_order(options, world); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return std::string(error.what());
  };
  EXPECT_THAT(refusal(100, 8, 10, 1), HasSubstr("a global batch of 100 cannot be divided among 8 lanes"));
  EXPECT_THAT(refusal(100, 8, 10, 1), HasSubstr("for example 5,"));
  EXPECT_THAT(refusal(256, 8, 10, 16), HasSubstr("8 lanes cannot be divided among 16 ranks; "));
  EXPECT_THAT(refusal(256, 8, 10, 16), HasSubstr("for example 16"));
  EXPECT_THAT(refusal(60, 8, 10, 3), HasSubstr("for example 6"));
  EXPECT_THAT(refusal(8, 8, 0, 1), HasSubstr("at least 1 sample, not 0"));
  EXPECT_THAT(refusal(8, 0, 10, 1), HasSubstr("lanes must be at least 1, not 0"));
  EXPECT_THAT(refusal(8, -8, 10, 1), HasSubstr("not -8"));
  OrderOptions repeated = windowed({100}, 64, 8, 10);
  repeated.repeats = 3;
  EXPECT_THAT(error_of([&] { check_order(repeated, 1); }).message(),
              HasSubstr("use a multiple of 3, or other repeats"));
  for (const int world : {1, 2, 4, 8}) check_order(windowed({100}, 256, 8, 1, Tail::kDrop), world);
  check_order({.samples = 100, .global_batch = 100}, 100);  // other orders ignore lanes and window
}

}  // namespace
}  // namespace stoker
