#include "stoker/order/substitutes.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

namespace stoker {
namespace {

std::set<std::int64_t> all_of(const Substitutes& substitutes) {
  std::set<std::int64_t> samples;
  for (std::int64_t i = 0; i < substitutes.tries(); ++i) samples.insert(substitutes.sample(i));
  return samples;
}

TEST(Substitutes, AreAllOthersOfASmallDataSetEachOnce) {
  for (const std::int64_t samples : {2, 3, 10, 128, 129}) {
    for (const std::int64_t bad : {std::int64_t{0}, samples / 2, samples - 1}) {
      const Substitutes substitutes({.samples = samples, .seed = 7}, 0, 3, bad);
      const std::set<std::int64_t> all = all_of(substitutes);
      EXPECT_EQ(all.size(), static_cast<std::size_t>(samples - 1));
      EXPECT_FALSE(all.contains(bad));
      EXPECT_GE(*all.begin(), 0);
      EXPECT_LT(*all.rbegin(), samples);
    }
  }
}

TEST(Substitutes, AreOfTheSamePartOfAMixture) {
  const OrderOptions options{.samples = 60, .seed = 7, .mixture = {{10, 1}, {20, 1}, {30, 1}}};
  for (const auto& [bad, first, size] : {std::tuple{4, 0, 10}, std::tuple{10, 10, 20}, std::tuple{59, 30, 30}}) {
    const std::set<std::int64_t> all = all_of(Substitutes(options, 0, 3, bad));
    EXPECT_EQ(all.size(), static_cast<std::size_t>(size - 1));
    EXPECT_FALSE(all.contains(bad));
    EXPECT_GE(*all.begin(), first);
    EXPECT_LT(*all.rbegin(), first + size);
  }
}

TEST(Substitutes, AreNoneOfADataSetOfOne) { EXPECT_EQ(Substitutes({.samples = 1, .seed = 7}, 0, 3, 0).tries(), 0); }

TEST(Substitutes, AreOthersAtEveryPlaceAndSoManyOfALargeDataSet) {
  constexpr std::int64_t kSamples = 1'000'000;
  std::set<std::int64_t> first;
  for (std::int64_t epoch = 0; epoch < 10; ++epoch) {
    for (std::int64_t position = 0; position < 10; ++position) {
      for (const std::uint64_t seed : {1, 2}) {
        const Substitutes substitutes({.samples = kSamples, .seed = seed}, epoch, position, 5);
        first.insert(substitutes.sample(0));
        EXPECT_EQ(all_of(substitutes).size(), static_cast<std::size_t>(Substitutes::kTriesMax));
      }
    }
  }
  EXPECT_GE(first.size(), 199u);
}

TEST(Substitutes, AreTheSameForEver) {
  const Substitutes substitutes({.samples = 1000, .seed = 42}, 3, 17, 5);
  std::vector<std::int64_t> samples;
  for (std::int64_t i = 0; i < 4; ++i) samples.push_back(substitutes.sample(i));
  EXPECT_EQ(samples, (std::vector<std::int64_t>{355, 539, 428, 774}));
}

}  // namespace
}  // namespace stoker
