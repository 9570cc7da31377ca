#include "stoker/order/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

TEST(Permutation, ReachesEveryArrangementOfFewElements) {
  // 4! = 24 arrangements over 6000 epochs: each about 250 times; 24 cells, chi-square beyond 60 has odds of 1e-5.
  std::vector<int> counts(256, 0);
  constexpr int kEpochs = 6000;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    const auto values = listed(4, 1, static_cast<std::uint64_t>(epoch));
    ++counts[values[0] * 64 + values[1] * 16 + values[2] * 4 + values[3]];
  }
  double chi_square = 0;
  int reached = 0;
  for (const int count : counts) {
    if (count == 0) continue;
    ++reached;
    chi_square += std::pow(count - kEpochs / 24.0, 2) / (kEpochs / 24.0);
  }
  EXPECT_EQ(reached, 24);
  EXPECT_LT(chi_square, 60);
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
  EXPECT_EQ(to_hex(hash64(bytes)), "ec8ff5201bd0c608");
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
