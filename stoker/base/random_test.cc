#include "stoker/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace stoker {
namespace {

using Block = std::array<std::uint32_t, 4>;

TEST(Philox, GivesThePublishedKnownAnswers) {
  // The known-answer vectors of Random123's philox4x32-10.
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, DiffersByEveryPartOfItsName) {
  std::set<std::uint64_t> first;
  first.insert(Random(1, 2, 3, 4).next_u64());
  first.insert(Random(9, 2, 3, 4).next_u64());
  first.insert(Random(1, 9, 3, 4).next_u64());
  first.insert(Random(1, 2, 9, 4).next_u64());
  first.insert(Random(1, 2, 3, 9).next_u64());
  first.insert(Random(2, 1, 3, 4).next_u64());
  EXPECT_EQ(first.size(), 6u);
  EXPECT_NE(random_stream("a", "flip", 0), random_stream("a", "flip", 1));
  EXPECT_NE(random_stream("a", "flip", 0), random_stream("b", "flip", 0));
}

TEST(Random, KeepsItsGoldenSequence) {
  Random random(7, 1, 42, random_stream("image", "random_flip", 0));
  EXPECT_EQ(random.next_u64(), 5370379091488151501u);
  EXPECT_EQ(random.below(1000), 110u);
}

TEST(Random, BranchesDifferByTheirNamesAndByNothingElse) {
  Random one(1, 2, 3, 4), other(1, 2, 3, 4);
  for (int i = 0; i < 9; ++i) one.next_u32();
  EXPECT_EQ(one.branch(5).next_u64(), other.branch(5).next_u64()) << "however many numbers were drawn before";
  std::set<std::uint64_t> first = {other.next_u64(),
                                   other.branch(5).next_u64(),
                                   other.branch(6).next_u64(),
                                   other.branch(5).branch(5).next_u64(),
                                   Random(1, 2, 9, 4).branch(5).next_u64(),
                                   Random(1, 2, 3, 9).branch(5).next_u64(),
                                   Random(1, 2, 3, 5).next_u64()};
  EXPECT_EQ(first.size(), 7u);
  EXPECT_EQ(Random(7, 1, 42, 3).branch(11).next_u64(), 5630390393766169412u);
}

TEST(Random, UniformFillsTheUnitIntervalEvenly) {
  constexpr int kDraws = 200'000, kCells = 100;
  std::vector<int> cells(kCells, 0);
  double sum = 0;
  Random random(3, 0, 0, 0);
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    ++cells[static_cast<std::size_t>(value * kCells)];
    sum += value;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  double chi_square = 0;
  for (const int count : cells) chi_square += std::pow(count - kDraws / kCells, 2) / (kDraws / kCells);
  EXPECT_LT(chi_square, 170);  // 99 degrees of freedom: beyond it once in 10^5
}

TEST(Random, BelowReachesEveryValueEvenly) {
  constexpr int kDraws = 70'000;
  std::vector<int> counts(7, 0);
  Random random(5, 0, 0, 0);
  for (int i = 0; i < kDraws; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 7, 500);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, BelowIsEvenWhereTheRangeIsNoMultiple) {
  // Of the 2^64 values a third are too many for 3 * 2^62: folded back they would make the first third twice as likely.
  constexpr std::uint64_t kThird = std::uint64_t{1} << 62;
  constexpr int kDraws = 30'000;
  int counts[3] = {};
  Random random(6, 0, 0, 0);
  for (int i = 0; i < kDraws; ++i) ++counts[random.below(3 * kThird) / kThird];
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 3, 500);
}

TEST(Random, UniformUsesAllBitsOfADouble) {
  Random random(8, 0, 0, 0);
  int odd = 0;
  for (int i = 0; i < 1000; ++i) odd += static_cast<std::uint64_t>(random.uniform() * 0x1p53) % 2 == 1 ? 1 : 0;
  EXPECT_NEAR(odd, 500, 100);
}

TEST(Random, RunsPastABlockWithoutRepeating) {
  Random random(1, 1, 1, 1);
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.next_u32());
  EXPECT_GT(seen.size(), 995u);
}

}  // namespace
}  // namespace stoker
