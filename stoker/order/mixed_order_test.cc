#include "stoker/order/mixed_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "stoker/order/epoch_order.h"

namespace stoker {
namespace {

OrderOptions mixture(std::vector<OrderPart> parts) {
  OrderOptions options{.seed = 5, .mixture = std::move(parts)};
  for (const OrderPart& part : options.mixture) options.samples += part.samples;
  return options;
}

/// The part that each of the first draws comes from.
std::vector<int> parts_drawn(const OrderOptions& options, std::int64_t draws) {
  const MixedOrder order(options);
  std::vector<int> parts;
  for (std::int64_t draw = 0; draw < draws; ++draw) {
    std::int64_t sample = order.sample_at(draw);
    int part = 0;
    while (sample >= options.mixture[static_cast<std::size_t>(part)].samples) {
      sample -= options.mixture[static_cast<std::size_t>(part++)].samples;
    }
    parts.push_back(part);
  }
  return parts;
}

TEST(MixedOrder, GivesEachPartExactlyItsShareOfEveryBlock) {
  const std::vector<int> parts = parts_drawn(mixture({{1000, 5}, {7, 2}, {40, 1}}), 2560);
  for (std::size_t block = 0; block < 10; ++block) {
    const auto begin = parts.begin() + static_cast<std::ptrdiff_t>(256 * block);
    EXPECT_EQ(std::count(begin, begin + 256, 0), 160);
    EXPECT_EQ(std::count(begin, begin + 256, 1), 64);
    EXPECT_EQ(std::count(begin, begin + 256, 2), 32);
  }
}

TEST(MixedOrder, GoesThroughEachPartInPasses) {
  const OrderOptions options = mixture({{100, 3}, {33, 2}});
  const MixedOrder order(options);
  constexpr std::int64_t kBlock = 255, kOfFirst = 153, kOfSecond = 102;
  std::vector<std::int64_t> counts(133);
  std::set<std::vector<std::int64_t>> blocks;
  for (std::int64_t block = 1; block <= 40; ++block) {
    std::vector<std::int64_t> drawn;
    for (std::int64_t draw = (block - 1) * kBlock; draw < block * kBlock; ++draw)
      drawn.push_back(order.sample_at(draw));
    EXPECT_TRUE(blocks.insert(drawn).second) << "shuffled anew each time";
    for (const std::int64_t sample : drawn) ++counts.at(static_cast<std::size_t>(sample));
    for (std::size_t sample = 0; sample < counts.size(); ++sample) {
      const std::int64_t draws = block * (sample < 100 ? kOfFirst : kOfSecond), size = sample < 100 ? 100 : 33;
      ASSERT_GE(counts[sample], draws / size) << sample;
      ASSERT_LE(counts[sample], (draws + size - 1) / size) << sample;
    }
  }
}

// Of which no block has exact shares.
TEST(MixedOrder, DealsPassesAndSharesOfAnyWeights) {
  std::vector<OrderPart> many;
  for (int i = 0; i < 40; ++i) many.push_back({.samples = 5 + i, .weight = 1 + i * i * 7});
  for (const std::vector<OrderPart>& parts : {std::vector<OrderPart>{{200, 333'333}, {200, 666'667}},
                                              {{200, 500}, {150, 7}, {3, 1}},
                                              {{10, 1}, {10, 999'999}},
                                              {{200, 1'250'000'007}, {200, 3'740'000'001}, {100, 12}},
                                              many}) {
    const OrderOptions options = mixture(parts);
    const MixedOrder order(options);
    double weights = 0;
    for (const OrderPart& part : parts) weights += static_cast<double>(part.weight);
    std::vector<std::int64_t> times(static_cast<std::size_t>(options.samples));
    for (std::int64_t draw = 0; draw < 40 * 256; ++draw) {
      ++times.at(static_cast<std::size_t>(order.sample_at(draw)));
      if ((draw + 1) % 256 != 0) continue;
      auto own = times.begin();
      for (const OrderPart& part : parts) {
        const auto end = own + part.samples;
        const auto [least, most] = std::minmax_element(own, end);
        ASSERT_LE(*most - *least, 1) << "a pass has each sample once";
        const auto draws = static_cast<double>(std::accumulate(own, end, std::int64_t{0}));
        const double share = static_cast<double>((draw + 1) * part.weight) / weights;
        ASSERT_NEAR(draws, share, static_cast<double>(parts.size()) / 2);
        own = end;
      }
    }
  }
}

TEST(MixedOrder, MixesPartsWithinABlockAnewEachTime) {
  const std::vector<int> parts = parts_drawn(mixture({{1000, 1}, {1000, 1}}), 512);
  const std::vector<int> first(parts.begin(), parts.begin() + 256), second(parts.begin() + 256, parts.end());
  EXPECT_NE(first, second);
  int changes = 0;
  for (std::size_t i = 1; i < first.size(); ++i) changes += first[i] != first[i - 1];
  EXPECT_NEAR(changes, 128, 40) << "as often as chance has it";
}

TEST(MixedOrder, DependsOnTheSeed) {
  OrderOptions options = mixture({{50, 1}, {50, 1}});
  const std::vector<int> one = parts_drawn(options, 100);
  options.seed = 6;
  EXPECT_NE(parts_drawn(options, 100), one);
}

TEST(EpochOrderOfAMixture, GoesOnWhereTheEpochBeforeEnded) {
  for (const Tail tail : {Tail::kDrop, Tail::kWrap, Tail::kPad, Tail::kKeep}) {
    for (const std::int64_t repeats : {1, 3}) {
      OrderOptions options = mixture({{100, 3}, {33, 1}});
      options.tail = tail;
      options.global_batch = 10;
      options.repeats = repeats;
      const MixedOrder stream(options);
      std::int64_t draw = 0;
      for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
        const EpochOrder order(options, epoch);
        for (std::int64_t position = 0; position < order.batches() * 10; position += repeats) {
          const auto sample = order.sample_at(position);
          if (!sample) continue;
          ASSERT_EQ(*sample, stream.sample_at(draw)) << draw;
          ++draw;
        }
      }
      EXPECT_NEAR(static_cast<double>(draw), 4 * 133, 40);
    }
  }
}

TEST(EpochOrder, RepeatsEachSampleNextToItself) {
  OrderOptions options{.samples = 21, .global_batch = 6, .tail = Tail::kPad, .seed = 1, .repeats = 3};
  const EpochOrder order(options, 2);
  EXPECT_EQ(order.batches(), 11);
  options.repeats = 1;
  const EpochOrder once(options, 2);
  for (std::int64_t position = 0; position < 63; ++position) {
    EXPECT_EQ(order.sample_at(position), once.sample_at(position / 3));
  }
  EXPECT_FALSE(order.sample_at(63));
}

TEST(EpochOrder, RepeatsSamplesInWindowsToo) {
  OrderOptions options{
      .samples = 96,
      .global_batch = 12,
      .kind = OrderKind::kWindowed,
      .seed = 1,
      .repeats = 3,
      .window = 8,
      .lanes = 2,
      .shard_samples = std::make_shared<const std::vector<std::int64_t>>(std::vector<std::int64_t>{96})};
  check_order(options, 2);
  const EpochOrder order(options, 0);
  EXPECT_EQ(order.batches(), 24);
  std::map<std::int64_t, int> counts;
  for (std::int64_t position = 0; position < 288; ++position) ++counts[*order.sample_at(position)];
  EXPECT_EQ(counts.size(), 96u);
  for (const auto& [sample, count] : counts) EXPECT_EQ(count, 3) << sample;
}

}  // namespace
}  // namespace stoker
