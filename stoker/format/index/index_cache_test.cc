#include "stoker/format/index/index_cache.h"

#include <gtest/gtest.h>

#include "stoker/format/index/index_testing.h"

namespace stoker {
namespace {

/// A block of one row, testing_row(i).
LoadedBlock block_of(std::int64_t i) {
  IndexBlockBuilder builder;
  builder.add(testing_row(i), std::vector<std::uint16_t>{0, 1});
  LoadedBlock loaded;
  builder.take(loaded.bytes);
  loaded.block = IndexBlock(loaded.bytes, 1, {.names = 2, .data_bytes = 1 << 20, .has_checksums = true});
  return loaded;
}

class IndexCacheOfThree : public ::testing::Test {
 protected:
  std::int64_t held() const {
    std::int64_t count = 0;
    for (std::int64_t block = 0; block < kBlocks; ++block) count += cache_.holds(index_, block);
    return count;
  }
  /// Whether the cache has the block, and it is that one.
  bool reads(std::int64_t block) {
    SampleRow row;
    if (!cache_.read(index_, block, 0, names_, row)) return false;
    EXPECT_EQ(row.key, testing_row(block).key);
    return true;
  }

  static constexpr std::int64_t kBlocks = 9;  // whose keys are of one length
  const std::vector<std::string> names_ = {"jpg", "cls"};
  IndexCache cache_{3 * block_of(0).bytes.size()};
  const int index_ = cache_.add_index(kBlocks);
};

TEST_F(IndexCacheOfThree, HoldsAsManyBlocksAsItHasBytesFor) {
  for (std::int64_t round = 0; round < 3; ++round) {
    for (std::int64_t block = 0; block < kBlocks; ++block) {
      if (!cache_.holds(index_, block)) cache_.insert(index_, block, block_of(block));
      EXPECT_TRUE(reads(block));
      EXPECT_EQ(held(), round == 0 ? std::min<std::int64_t>(block + 1, 3) : 3);
    }
  }
}

TEST_F(IndexCacheOfThree, CountsABlockOnceThatTwoLoaded) {
  for (const std::int64_t block : {0, 0, 0, 1, 1, 2}) cache_.insert(index_, block, block_of(block));
  EXPECT_EQ(held(), 3);
  for (const std::int64_t block : {3, 4, 5}) cache_.insert(index_, block, block_of(block));
  for (std::int64_t block = 0; block < kBlocks; ++block) EXPECT_EQ(reads(block), block >= 3 && block <= 5) << block;
}

TEST_F(IndexCacheOfThree, KeepsWhatWasFetchedTogetherUntilItIsRead) {
  for (std::int64_t first = 0; first + 3 <= kBlocks; ++first) {
    for (std::int64_t block = first; block < first + 3; ++block) cache_.insert(index_, block, block_of(block));
    for (std::int64_t block = first; block < first + 3; ++block) EXPECT_TRUE(reads(block)) << block << " of " << first;
  }
}

TEST_F(IndexCacheOfThree, KeepsWhatIsReadAgainAndAgain) {
  cache_.insert(index_, 0, block_of(0));
  for (std::int64_t block = 1; block < kBlocks; ++block) {
    EXPECT_TRUE(reads(0));
    cache_.insert(index_, block, block_of(block));
  }
  EXPECT_TRUE(reads(0));
}

}  // namespace
}  // namespace stoker
