#include "stoker/runtime/share/sample_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "stoker/base/child_testing.h"
#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using ::testing::Each;

constexpr std::uint64_t kMebibyte = 1 << 20;

SampleCache cache_of(std::int64_t samples, std::uint64_t bytes) {
  return {SharedMemory::create(SampleCache::overhead(samples) + bytes), samples};
}

void keep(SampleCache& cache, std::int64_t sample, std::uint64_t bytes) {
  if (const std::optional<MutableBytes> place = cache.reserve(sample, bytes)) {
    std::fill(place->begin(), place->end(), static_cast<std::uint8_t>(sample));
    cache.keep(sample, *place);
  }
}

TEST(SampleCache, FindsWhatItKeeps) {
  SampleCache cache = cache_of(10, kMebibyte);
  EXPECT_FALSE(cache.find(3, 100));
  keep(cache, 3, 100);
  keep(cache, 4, 0);
  keep(cache, 9, 65);
  ASSERT_TRUE(cache.find(3, 100));
  EXPECT_THAT(*cache.find(3, 100), Each(3));
  EXPECT_EQ(cache.find(4, 0)->size(), 0u);
  EXPECT_THAT(*cache.find(9, 65), Each(9));
  EXPECT_FALSE(cache.find(0, 100));
  EXPECT_EQ(cache.used(), 128u + 0 + 128);
}

TEST(SampleCache, ShowsNothingBeforeItIsAllThere) {
  SampleCache cache = cache_of(10, kMebibyte);
  const std::optional<MutableBytes> place = cache.reserve(3, 100);
  ASSERT_TRUE(place);
  EXPECT_FALSE(cache.find(3, 100));
  EXPECT_FALSE(cache.reserve(3, 100)) << "another thread is at it";
}

TEST(SampleCache, KeepsWhatFitsAndNothingLeaves) {
  SampleCache cache = cache_of(10, 4096);
  keep(cache, 0, 3000);
  keep(cache, 1, 2000);
  EXPECT_FALSE(cache.find(1, 2000));
  keep(cache, 2, 1000);
  EXPECT_TRUE(cache.find(0, 3000));
  EXPECT_TRUE(cache.find(2, 1000));
  EXPECT_FALSE(cache.reserve(5, UINT64_MAX - 10));
}

TEST(SampleCache, IsSharedWithWhoeverHasItsDescriptor) {
  SharedMemory memory = SharedMemory::create(SampleCache::overhead(10) + kMebibyte);
  FileDescriptor copy(::fcntl(memory.descriptor(), F_DUPFD_CLOEXEC, 0));
  SampleCache first(std::move(memory), 10);
  keep(first, 3, 100);
  SampleCache second(SharedMemory::attach(std::move(copy)), 10);
  EXPECT_THAT(*second.find(3, 100), Each(3));
  EXPECT_EQ(status_in_child([&] {
              keep(second, 4, 1000);
              return 0;
            }),
            0);
  EXPECT_THAT(*first.find(4, 1000), Each(4));
}

TEST(SampleCache, LosesOneSampleToAProcessThatDies) {
  SampleCache cache = cache_of(10, kMebibyte);
  EXPECT_EQ(status_in_child([&] { return cache.reserve(3, 100) ? 0 : 1; }), 0);
  EXPECT_FALSE(cache.find(3, 100));
  EXPECT_FALSE(cache.reserve(3, 100));
  keep(cache, 4, 100);
  EXPECT_TRUE(cache.find(4, 100));
}

TEST(SampleCache, AttachesToNothingThatCouldShrink) {
  FileDescriptor file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(error_of([&] { SharedMemory::attach(std::move(file)); }).kind(), ErrorKind::kData);
}

TEST(SampleCache, KeepsEachSampleOnceForManyThreads) {
  constexpr std::int64_t kSamples = 2000;
  SampleCache cache = cache_of(kSamples, kSamples * 128);
  std::atomic<int> kept{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (std::int64_t sample = 0; sample < kSamples; ++sample) {
          if (const std::optional<Bytes> found = cache.find(sample, 100)) {
            EXPECT_EQ((*found)[99], static_cast<std::uint8_t>(sample));
          } else if (const std::optional<MutableBytes> place = cache.reserve(sample, 100)) {
            std::fill(place->begin(), place->end(), static_cast<std::uint8_t>(sample));
            cache.keep(sample, *place);
            ++kept;
          }
        }
      });
    }
  }
  EXPECT_EQ(kept, kSamples);
  EXPECT_EQ(cache.used(), kSamples * 128u);
}

}  // namespace
}  // namespace stoker
