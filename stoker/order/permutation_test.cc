#include "stoker/order/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "stoker/base/hash.h"

namespace stoker {
namespace {

std::vector<std::uint64_t> listed(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch) {
  const Permutation permutation(size, seed, epoch);
  std::vector<std::uint64_t> values(size);
  for (std::uint64_t i = 0; i < size; ++i) values[i] = permutation(i);
  return values;
}

TEST(Permutation, VisitsEveryElementOnce) {
  for (const std::uint64_t size : {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 1000, 4095, 4096, 4097, 100000}) {
    std::vector<bool> seen(size, false);
    for (const std::uint64_t value : listed(size, 7, 0)) {
      ASSERT_LT(value, size);
      ASSERT_FALSE(seen[value]) << "size " << size << " repeats " << value;
      seen[value] = true;
    }
  }
}

TEST(Permutation, ReachesEveryArrangementOfFewElementsEquallyOften) {
  int arrangements = 1;
  for (const std::uint64_t size : {2, 3, 4, 5}) {
    arrangements *= static_cast<int>(size);
    const int epochs = 250 * arrangements;
    std::map<std::vector<std::uint64_t>, int> counts;
    for (int epoch = 0; epoch < epochs; ++epoch) ++counts[listed(size, 1, static_cast<std::uint64_t>(epoch))];
    EXPECT_EQ(counts.size(), static_cast<std::size_t>(arrangements));
    double chi_square = 0;
    for (const auto& [arrangement, count] : counts) chi_square += std::pow(count - 250.0, 2) / 250.0;
    const double freedom = arrangements - 1;
    EXPECT_LT(chi_square, freedom + 5 * std::sqrt(2 * freedom)) << size;
  }
}

TEST(Permutation, VisitsEveryElementOnceFromAnyRoundKeys) {
  Permutation::RoundKeys keys{};
  for (std::uint64_t size = 1; size <= 600; ++size) {
    for (std::uint32_t& key : keys) key = key * 5 + static_cast<std::uint32_t>(size);
    const Permutation permutation(size, keys);
    std::vector<bool> seen(size, false);
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t value = permutation(i);
      ASSERT_LT(value, size);
      ASSERT_FALSE(seen[value]) << "size " << size << " repeats " << value;
      seen[value] = true;
    }
  }
}

TEST(Permutation, MovesNeighboursApart) {
  constexpr std::uint64_t kSize = 10000;
  const auto values = listed(kSize, 3, 5);
  double distance = 0;
  for (std::uint64_t i = 1; i < kSize; ++i) {
    distance += std::abs(static_cast<double>(values[i]) - static_cast<double>(values[i - 1]));
  }
  // Two uniform values lie a third of the range apart on average.
  EXPECT_NEAR(distance / (kSize - 1) / kSize, 1.0 / 3, 0.02);
}

TEST(Permutation, DiffersBySeedAndByEpoch) {
  EXPECT_NE(listed(1000, 1, 0), listed(1000, 2, 0));
  EXPECT_NE(listed(1000, 1, 0), listed(1000, 1, 1));
  EXPECT_EQ(listed(1000, 1, 1), listed(1000, 1, 1));
}

TEST(Permutation, KeepsItsGoldenOrder) {
  const auto values = listed(1281167, 7, 3);
  const Bytes bytes(reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(values[0]));
  EXPECT_EQ(to_hex(hash64(bytes)), "c749ba2eec44c0df");
}

TEST(Permutation, HandlesMoreElementsThan32Bits) {
  const std::uint64_t size = (std::uint64_t{1} << 40) + 12345;
  const Permutation permutation(size, 1, 1);
  std::uint64_t largest = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) largest = std::max(largest, permutation(i));
  EXPECT_LT(largest, size);
  EXPECT_GT(largest, size / 2);
}

}  // namespace
}  // namespace stoker
