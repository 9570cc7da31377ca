#include "stoker/storage/cache/cached_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/storage/block_testing.h"
#include "stoker/storage/cache/disk_cache_testing.h"
#include "stoker/storage/file_access_testing.h"
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

/// Counts reads of files, and those whose every byte goes to memory of the reader's own, rather than through a buffer.
class WatchedIo final : public FileIo {
 public:
  WatchedIo() : inner_(std::make_shared<InlineExecutor>()) {}
  std::string_view name() const override { return inner_.name(); }
  void start(FileRead& read) override {
    ++reads;
    const bool is_mine = std::any_of(read.into.begin(), read.into.end(), [&](MutableBytes piece) {
      return piece.data() >= memory.data() && piece.data() < memory.data() + memory.size();
    });
    straight += is_mine ? 1 : 0;
    inner_.start(read);
  }

  MutableBytes memory;
  int reads = 0, straight = 0;

 private:
  PreadIo inner_;
};

/// As a loader reads samples of tars: from where they lie, into memory that lies so, too.
TEST(CachedSource, ReadsAlignedPiecesStraightPastThePageCache) {
  constexpr std::size_t kUnits = 800;
  const TempFolder folder;
  Remote remote("s3://bucket/a.tar", "1", some_bytes(kUnits * kDirectUnit + 100, 5));
  const auto executor = std::make_shared<InlineExecutor>();
  const auto io = std::make_shared<WatchedIo>();
  FileAccess access(executor, io);
  access.direct = true;
  DiskCache cache({.folder = folder.path(), .bytes_max = 64 << 20}, access, executor);
  Source& cached = cache.in_front_of(remote);
  EXPECT_EQ(cached.alignment(), kDirectUnit);
  std::vector<std::uint8_t> all(remote.bytes().size());
  read_fully(cached, 0, all);
  const std::uint64_t fetched = remote.bytes_read;
  const std::unique_ptr<std::uint8_t, decltype(&std::free)> memory(
      static_cast<std::uint8_t*>(std::aligned_alloc(kDirectUnit, (kUnits + 1) * kDirectUnit)), &std::free);
  io->memory = MutableBytes(memory.get(), (kUnits + 1) * kDirectUnit);
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    Random random(6, 0, trial, 0);
    const std::size_t first = random.below(kUnits), second = first + 1 + random.below(kUnits - first);
    const std::size_t offset = first * kDirectUnit;
    const bool is_cut = random.below(4) == 0;  // at no unit, as the object's end
    const std::size_t length = std::min((second - first) * kDirectUnit + (is_cut ? 100 : 0), all.size() - offset);
    const int straight_before = io->straight;
    const MutableBytes bytes(memory.get(), length);
    read_fully(cached, offset, bytes);
    ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), remote.bytes().begin() + static_cast<std::ptrdiff_t>(offset)))
        << "trial " << trial;
    // Short reads of several pieces are copied instead.
    const bool is_straight = !is_cut && length >= 3 * (std::size_t{16} << 10) && why_not({"", false, true}).empty();
    if (is_straight) {
      EXPECT_EQ(io->straight, straight_before + 1) << "trial " << trial;
    }
  }
  EXPECT_GT(io->reads, 0);
  EXPECT_EQ(remote.bytes_read, fetched);
  EXPECT_EQ(cache.counters().damaged, 0u);
}

}  // namespace
}  // namespace stoker
