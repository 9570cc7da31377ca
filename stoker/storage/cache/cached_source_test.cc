#include "stoker/storage/cache/cached_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/storage/block_testing.h"
#include "stoker/storage/cache/disk_cache_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

TEST(CachedSource, FetchesEachByteOnceWhateverRangesAreRead) {
  const TempFolder folder;
  Remote remote("s3://bucket/a.tar", "1", some_bytes(1'000'003, 2));
  Cache cache(folder.path());
  for (std::size_t at = 0; at < remote.bytes().size(); at += 7001) {
    ASSERT_TRUE(cache.reads_right(remote, at, std::min<std::size_t>(7001, remote.bytes().size() - at)));
  }
  // A chunk that two samples share is read by the first.
  const std::uint64_t fetched = remote.bytes_read;
  EXPECT_LT(fetched, remote.bytes().size() * 2);
  EXPECT_EQ(cache.cache.counters().bytes_written, remote.bytes().size());
  EXPECT_TRUE(cache.reads_right(remote));
  EXPECT_EQ(remote.bytes_read, fetched);
}

TEST(CachedSource, ServesPiecesFromWhereTheyAre) {
  const TempFolder folder;
  Remote remote("s3://bucket/a.tar", "1", some_bytes(400'003, 3));
  Cache cache(folder.path());
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    Random random(4, 0, trial, 0);
    std::vector<std::uint8_t> memory(remote.bytes().size(), 0xcd), want = memory;
    std::vector<MutableBytes> into;
    const std::size_t offset = random.below(remote.bytes().size());
    std::size_t at = offset;
    for (std::uint64_t left = random.below(12) + 1; left > 0; --left) {
      const std::uint64_t most[] = {1, 20, 5000, 40'000};
      const std::size_t size = std::min<std::size_t>(random.below(most[random.below(4)]), memory.size() - at);
      if (random.below(2) == 0 && size > 0) {
        into.push_back(hole(size));
      } else {
        into.push_back(MutableBytes(memory).subspan(at, size));
        std::copy_n(remote.bytes().begin() + static_cast<std::ptrdiff_t>(at), size,
                    want.begin() + static_cast<std::ptrdiff_t>(at));
      }
      at += size;
    }
    ReadRequest request;
    request.offset = offset;
    request.into = into;
    request.done = [](ReadRequest& one) noexcept { *static_cast<bool*>(one.context) = true; };
    bool done = false;
    request.context = &done;
    cache.cache.in_front_of(remote).start(request);
    ASSERT_TRUE(done);
    ASSERT_FALSE(request.error);
    ASSERT_EQ(memory, want) << "trial " << trial;
  }
  EXPECT_GT(cache.cache.counters().hits, 100u);
}

TEST(CachedSource, KeepsTheBytesOfBlocksAsTheyAreStored) {
  const TempFolder folder;
  ObjectOfBlocks object;
  const std::vector<std::uint8_t> content(100'000, 7);
  object.bytes = some_bytes(20'000, 1), object.add(content);
  const auto remote = std::make_shared<Remote>("s3://bucket/blocks", "1", object.bytes);
  const std::uint64_t place = first_place(object.bytes.size());
  for (const bool kept : {false, true}) {
    BlockSource source(remote, object.table(), std::make_shared<BlockCache>());
    Cache cache(folder.path());
    Source& cached = cache.cache.in_front_of(source);
    std::vector<std::uint8_t> bytes(content.size()), own(5000);
    read_fully(cached, place, bytes);
    EXPECT_EQ(bytes, content);
    read_fully(cached, 10'000, own);
    EXPECT_TRUE(std::equal(own.begin(), own.end(), object.bytes.begin() + 10'000));
    EXPECT_EQ(cache.cache.counters().hits, kept ? 2u : 0u);
    EXPECT_EQ(remote->reads, 2u) << "what is on the disk needs no store";
  }
}

/// As a loader reads samples of tars: from where they lie, into memory that lies so, too.
TEST(CachedSource, ReadsAlignedPiecesStraightPastThePageCache) {
  constexpr std::size_t kUnits = 800;
  const TempFolder folder;
  Remote remote("s3://bucket/a.tar", "1", some_bytes(kUnits * kDirectUnit + 100, 5));
  Cache cache(folder.path(), 64 << 20, 1, true);
  Source& cached = cache.cache.in_front_of(remote);
  EXPECT_EQ(cached.alignment(), kDirectUnit);
  EXPECT_TRUE(cache.reads_right(remote));
  const std::uint64_t fetched = remote.bytes_read;
  const std::unique_ptr<std::uint8_t, decltype(&std::free)> memory(
      static_cast<std::uint8_t*>(std::aligned_alloc(kDirectUnit, (kUnits + 1) * kDirectUnit)), &std::free);
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    Random random(6, 0, trial, 0);
    const std::size_t first = random.below(kUnits), second = first + 1 + random.below(kUnits - first);
    const std::size_t offset = first * kDirectUnit;
    const std::size_t length = std::min((second - first) * kDirectUnit + random.below(2) * 100,
                                        remote.bytes().size() - offset);  // up to the object's end, too
    const MutableBytes bytes(memory.get(), length);
    read_fully(cached, offset, bytes);
    ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), remote.bytes().begin() + static_cast<std::ptrdiff_t>(offset)))
        << "trial " << trial;
  }
  EXPECT_EQ(remote.bytes_read, fetched);
  EXPECT_EQ(cache.cache.counters().damaged, 0u);
}

}  // namespace
}  // namespace stoker
