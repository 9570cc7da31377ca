// The cache of encoded samples, as a loader uses it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "stoker/base/error_testing.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/share/sample_cache.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

LoaderOptions with_cache(std::optional<std::uint64_t> cache_memory = {}) {
  return {.batch = 10,
          .threads = 2,
          .memory = 64 << 20,
          .cache = CacheKind::kRam,
          .cache_memory = cache_memory,
          .epochs_end = 4};
}

TEST(LoaderCache, ServesLaterEpochs) {
  const MemoryDataset data = memory_dataset();
  Loader plain(data.dataset, small_recipe(), {.batch = 10, .threads = 2});
  const std::vector<std::string> expected = audit_of(plain, 4);
  Loader loader(data.dataset, small_recipe(), with_cache());
  EXPECT_EQ(audit_of(loader, 4), expected);
  const Metrics metrics = loader.metrics();
  // What is read ahead for the second epoch while the first one ends may be read twice.
  EXPECT_GT(metrics[Metric::kCacheHits], 110);
  EXPECT_LE(metrics[Metric::kCacheHits], 150);
  EXPECT_LT(metrics[Metric::kBytesRead], 2 * static_cast<std::int64_t>(data.dataset->bytes()));
  EXPECT_GE(metrics[Metric::kCacheBytes], static_cast<std::int64_t>(data.dataset->bytes()));
}

TEST(LoaderCache, KeepsWhatFits) {
  const MemoryDataset data = memory_dataset();
  Loader plain(data.dataset, small_recipe(), {.batch = 10, .threads = 2});
  const std::vector<std::string> expected = audit_of(plain, 4);
  const std::uint64_t half = SampleCache::overhead(50) + data.dataset->bytes() / 2;
  Loader loader(data.dataset, small_recipe(), with_cache(half));
  EXPECT_EQ(audit_of(loader, 4), expected);
  const Metrics metrics = loader.metrics();
  EXPECT_LE(metrics[Metric::kCacheBytes], static_cast<std::int64_t>(half));
  EXPECT_GT(metrics[Metric::kCacheHits], 3 * 15);
  EXPECT_LT(metrics[Metric::kCacheHits], 3 * 30);
}

TEST(LoaderCache, MustHaveRoomForASample) {
  const MemoryDataset data = memory_dataset();
  for (const std::uint64_t size : {std::uint64_t{1}, SampleCache::overhead(50)}) {
    const Error error = error_of([&] { Loader(data.dataset, small_recipe(), with_cache(size)); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("keeps none of the 50 samples; give at least 1MB"));
  }
}

TEST(LoaderCache, IsSharedByTheRanksOfAHost) {
  const MemoryDataset data = memory_dataset();
  Loader alone(data.dataset, small_recipe(), {.batch = 10});
  std::vector<std::string> expected = audit_of(alone, 2);
  std::vector<std::string> seen;
  std::int64_t read = 0;
  std::vector<std::unique_ptr<Loader>> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    LoaderOptions options = with_cache(4 << 20);
    options.batch = 5;
    options.rank = rank;
    options.world = 2;
    ranks.push_back(std::make_unique<Loader>(data.dataset, small_recipe(), options));
  }
  for (const auto& loader : ranks) {
    const std::vector<std::string> lines = audit_of(*loader, 2);
    seen.insert(seen.end(), lines.begin(), lines.end());
    read += loader->metrics()[Metric::kBytesRead];
  }
  std::sort(seen.begin(), seen.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(seen, expected);
  EXPECT_LT(read, 2 * alone.metrics()[Metric::kBytesRead] / 2) << "what one rank has read the other need not";
  EXPECT_EQ(ranks[0]->metrics()[Metric::kCacheBytes], ranks[1]->metrics()[Metric::kCacheBytes]);
}

TEST(LoaderCache, KeepsNothingThatIsBad) {
  const MemoryDataset data = memory_dataset({.bad = {17, 19}});
  Loader plain(data.dataset, small_recipe(), {.batch = 10});
  Loader loader(data.dataset, small_recipe(), with_cache());
  EXPECT_EQ(audit_of(loader, 3), audit_of(plain, 3));
  EXPECT_EQ(loader.metrics()[Metric::kBadSamples], 2);
}

TEST(LoaderCache, TakesItsMemoryFromTheBudget) {
  const MemoryDataset data = memory_dataset();
  LoaderOptions options = with_cache(64 << 20);
  EXPECT_THAT(error_of([&] { Loader(data.dataset, small_recipe(), options); }).message(),
              HasSubstr("with a cache of 67.1 MB"));
  options.cache = CacheKind::kNone;
  EXPECT_THAT(error_of([&] { Loader(data.dataset, small_recipe(), options); }).message(),
              HasSubstr("there is no cache"));
}

}  // namespace
}  // namespace stoker
