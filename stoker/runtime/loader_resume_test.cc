// Training that is stopped and goes on elsewhere, with another number of processes, sees what it would have seen.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "stoker/base/error_testing.h"
#include "stoker/base/random.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/format/dataset_views.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using Lines = std::vector<std::string>;

constexpr int kGlobalBatch = 12, kEpochs = 3;

/// Draws integers; the test's own, so that what it does can be done again.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed, 0, 0, 0) {}
  int up_to(int most) { return static_cast<int>(random_.uniform() * (most + 1)); }
  template <typename T>
  T one_of(std::initializer_list<T> all) {
    return *(all.begin() + up_to(static_cast<int>(all.size()) - 1));
  }

 private:
  Random random_;
};

LoaderOptions options_of(OrderKind kind, Tail tail) {
  LoaderOptions options{.global_batch = kGlobalBatch, .seed = 5, .threads = 1, .order = kind, .tail = tail};
  options.epochs_end = kEpochs;
  if (kind == OrderKind::kWindowed) {
    options.window = 5;
    options.lanes = 12;
  }
  return options;
}

/// Lets a world take so many batches from `state` on, or to the end of the epochs; adds what all of it saw to `seen`, a
/// global batch after the other. Returns the state then, and clears it at the end.
std::string train(const std::shared_ptr<const Dataset>& data, LoaderOptions options, std::string state, int world,
                  int batches, Draws& draws, Lines& seen) {
  std::vector<std::unique_ptr<Loader>> ranks;
  for (int rank = 0; rank < world; ++rank) {
    options.rank = rank;
    options.world = world;
    options.threads = draws.one_of({1, 2, 3});
    options.prefetch = draws.one_of({1, 2, 7});
    options.cache = draws.one_of({CacheKind::kNone, CacheKind::kRam});
    ranks.push_back(std::make_unique<Loader>(data, small_recipe(), options));
    if (!state.empty()) ranks.back()->load_state(state);
  }
  std::vector<bool> ended(ranks.size());  // the epoch: of a tail that is kept some ranks have no batch
  for (int taken = 0; taken < batches;) {
    Lines lines;
    bool any = false;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (ended[rank]) continue;
      const BatchPtr batch = ranks[rank]->next();
      ended[rank] = !batch;
      if (!batch) continue;
      any = true;
      const Lines more = audit_of(*batch);
      lines.insert(lines.end(), more.begin(), more.end());
    }
    if (!any) ended.assign(ranks.size(), false);
    seen.insert(seen.end(), lines.begin(), lines.end());
    state = ranks[0]->state();
    for (const auto& loader : ranks) EXPECT_EQ(loader->state(), state) << "the same from every rank";
    if (any) {
      ++taken;
    } else if (state.find(fmt::format("\"epoch\":{},", kEpochs - 1)) != std::string::npos) {
      return "";
    }
  }
  return state;
}

TEST(LoaderResume, GoesOnAsIfNothingHadHappened) {
  const MemoryDataset good = memory_dataset(), hurt = memory_dataset({.bad = {3, 17, 41}});
  const auto mixed = mix({subset(good.dataset, {1, 2, 3, 5, 8, 13, 21, 34}), hurt.dataset}, {1, 2});
  for (std::uint64_t seed = 0; seed < rounds<std::uint64_t>(50); ++seed) {
    Draws draws(seed);
    LoaderOptions options = options_of(draws.one_of({OrderKind::kGlobal, OrderKind::kWindowed, OrderKind::kNone}),
                                       draws.one_of({Tail::kDrop, Tail::kWrap, Tail::kPad, Tail::kKeep}));
    if (options.order != OrderKind::kWindowed) options.repeats = draws.one_of({1, 1, 2});
    if (options.order != OrderKind::kWindowed && !counts_each_once(*options.tail)) {
      options.batch_repeats = draws.one_of({1, 2, 3});
    }
    options.bad_sample = draws.one_of({BadSlotPolicy::kSubstitute, BadSlotPolicy::kSkip});
    const auto data =
        draws.one_of({good.dataset, hurt.dataset, options.order == OrderKind::kGlobal ? mixed : hurt.dataset});
    Loader whole(data, small_recipe(), options);
    const Lines want = audit_of(whole, kEpochs);
    Lines seen;
    std::string state;
    do {
      state = train(data, options, state, draws.one_of({1, 2, 3, 4, 6, 12}), 1 + draws.up_to(6), draws, seen);
    } while (!state.empty());
    ASSERT_EQ(seen, want) << "seed " << seed;
  }
}

TEST(LoaderResume, CountsWhatWasSeenAndNotWhatIsPrefetched) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), options_of(OrderKind::kGlobal, Tail::kDrop));
  EXPECT_THAT(loader.state(), HasSubstr("\"epoch\":0,\"batch\":0}"));
  loader.start_epoch(1);
  EXPECT_THAT(loader.state(), HasSubstr("\"epoch\":1,\"batch\":0}"));
  loader.next();
  EXPECT_THAT(loader.state(), HasSubstr("\"epoch\":1,\"batch\":1}"));
  while (loader.next()) continue;
  EXPECT_THAT(loader.state(), HasSubstr("\"epoch\":1,\"batch\":4}"));
}

TEST(LoaderResume, BeginsTheEpochThatIsNamedWhereTheStateStands) {
  const MemoryDataset data = memory_dataset();
  const LoaderOptions options = options_of(OrderKind::kGlobal, Tail::kDrop);
  Loader first(data.dataset, small_recipe(), options);
  first.start_epoch(1);
  first.next();
  const std::string state = first.state();
  const auto batches_of = [&](std::int64_t epoch) {
    Loader loader(data.dataset, small_recipe(), options);
    loader.load_state(state);
    EXPECT_EQ(loader.state(), state);
    int count = 0;
    for (const BatchPtr& batch : loader.epoch(epoch)) {
      EXPECT_EQ(batch->epoch, epoch);
      ++count;
    }
    return count;
  };
  EXPECT_EQ(batches_of(1), 3);
  EXPECT_EQ(batches_of(2), 4) << "to name another epoch means all of it";
  EXPECT_EQ(batches_of(0), 4);
}

TEST(LoaderResume, StandsAtTheSameEndOnARankThatHasNoneOfTheLastBatch) {
  const MemoryDataset data = memory_dataset();  // four global batches of 12, and 2 samples
  LoaderOptions options = options_of(OrderKind::kGlobal, Tail::kKeep);
  options.world = 2;
  options.rank = 0;
  Loader first(data.dataset, small_recipe(), options);
  options.rank = 1;
  Loader second(data.dataset, small_recipe(), options);
  EXPECT_EQ(first.batches_per_epoch(), 5);
  EXPECT_EQ(second.batches_per_epoch(), 4);
  for (int batch = 0; batch < 4; ++batch) {
    first.next(), second.next();
    EXPECT_EQ(first.state(), second.state());
  }
  const std::string before_last = second.state();
  EXPECT_EQ(first.next()->size(), 2);
  EXPECT_EQ(second.next(), nullptr);
  const std::string at_end = second.state();
  EXPECT_EQ(first.state(), at_end);
  EXPECT_EQ(first.next(), nullptr);
  EXPECT_EQ(first.state(), at_end);

  second.load_state(before_last);
  EXPECT_EQ(second.next_epoch(), 0);
  EXPECT_EQ(second.next(), nullptr) << "what is left of the epoch is the other rank's";
  EXPECT_EQ(second.state(), at_end);
  second.load_state(at_end);
  EXPECT_EQ(second.next_epoch(), 1);
  second.start_epoch(0);
  EXPECT_EQ(second.state(), at_end);
  EXPECT_EQ(second.next(), nullptr);
  EXPECT_EQ(second.next()->epoch, 1);
}

TEST(LoaderResume, RefusesAStateThatStandsBehindTheEpoch) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), options_of(OrderKind::kGlobal, Tail::kDrop));
  std::string state = loader.state();
  state.replace(state.find("\"batch\":0"), 9, "\"batch\":5");
  EXPECT_THAT(error_of([&] { loader.load_state(state); }).what(), HasSubstr("batch 5 of an epoch of 4"));
}

}  // namespace
}  // namespace stoker
