#include "stoker/capacity/caches.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stoker/base/random.h"

namespace stoker {
namespace {

// The hits of a cache for `room` of the samples that forgets what was not used for longest, counted.
double counted_hits(std::size_t samples, std::size_t room) {
  std::vector<std::size_t> order(samples);
  for (std::size_t i = 0; i < samples; ++i) order[i] = i;
  std::list<std::size_t> recent;  // the latest first
  std::unordered_map<std::size_t, std::list<std::size_t>::iterator> cached;
  Random random(1, 0, 0, 0);
  constexpr int kEpochs = 6;
  std::size_t hits = 0;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (std::size_t i = samples; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (const std::size_t sample : order) {
      if (const auto found = cached.find(sample); found != cached.end()) {
        hits += epoch > 0 ? 1 : 0;
        recent.erase(found->second);
      }
      recent.push_front(sample);
      cached[sample] = recent.begin();
      if (recent.size() > room) {
        cached.erase(recent.back());
        recent.pop_back();
      }
    }
  }
  return static_cast<double>(hits) / static_cast<double>(samples) / (kEpochs - 1);
}

TEST(Caches, LeastRecentlyUsedHitsAreAsCounted) {
  constexpr std::size_t kSamples = 5'000;
  for (const double part : {0.1, 0.35, 0.5, 0.8, 0.95}) {
    const double counted = counted_hits(kSamples, static_cast<std::size_t>(part * kSamples));
    EXPECT_NEAR(hits_of_least_recent(part), counted, 0.02) << part;
  }
}

TEST(Caches, NothingAndEverything) {
  for (const auto& hits : {hits_of_kept, hits_of_least_recent, hits_of_page_cache}) {
    EXPECT_EQ(hits(0), 0);
    EXPECT_EQ(hits(1), 1);
  }
}

TEST(Caches, ThePageCacheIsBetweenTheTwo) {
  for (const double part : {0.2, 0.5, 0.9}) {
    EXPECT_GT(hits_of_page_cache(part), hits_of_least_recent(part));
    EXPECT_LT(hits_of_page_cache(part), hits_of_kept(part));
  }
}

TEST(Caches, ThePageCacheHitsAsMeasured) {
  EXPECT_NEAR(hits_of_page_cache(0.41), 0.15, 0.02);
  EXPECT_NEAR(hits_of_page_cache(0.71), 0.42, 0.02);
  EXPECT_NEAR(hits_of_page_cache(0.91), 0.75, 0.02);
}

TEST(Caches, PartsAreOfTheData) {
  EXPECT_EQ(cached_part(50, 200), 0.25);
  EXPECT_EQ(cached_part(300, 200), 1);
  EXPECT_EQ(cached_part(0, 200), 0);
  EXPECT_EQ(cached_part(-5, 200), 0);
  EXPECT_EQ(cached_part(0, 0), 1);
}

}  // namespace
}  // namespace stoker
