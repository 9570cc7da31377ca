// The disk cache: what it keeps, what it never serves, and how it shares a folder and ends.
#include "stoker/storage/cache/disk_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "stoker/base/child_testing.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/hash.h"
#include "stoker/base/log.h"
#include "stoker/base/random.h"
#include "stoker/storage/cache/disk_cache_testing.h"
#include "stoker/storage/temp_folder_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The files of cached objects.
std::vector<std::string> object_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().filename() != "stoker-cache") files.push_back(entry.path());
  }
  return files;
}

std::uint64_t disk_bytes(const std::string& folder) {
  std::uint64_t sum = 0;
  for (const std::string& file : object_files(folder)) {
    struct stat found;
    if (::stat(file.c_str(), &found) == 0) sum += static_cast<std::uint64_t>(found.st_blocks) * 512;
  }
  return sum;
}

struct Warnings {
  Warnings() {
    set_log_sink([this](LogLevel, std::string_view text) { texts.emplace_back(text); }, LogLevel::kWarning);
  }
  ~Warnings() { set_log_sink({}); }
  std::vector<std::string> texts;
};

TEST(DiskCache, RefusesAFolderOfAnotherProgramEachTime) {
  const TempFolder folder;
  folder.write("cache/stoker-cache", std::string(4096, 'x'));
  for (int time = 0; time < 2; ++time) {
    const Error error = error_of([&] { CacheFolder(folder.path("cache"), 1 << 20); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.message(), HasSubstr("not a cache of Stoker's"));
  }
}

/// Of an object which lies in a group that the folder uses: where its file is to be.
struct CachedFile {
  explicit CachedFile(CacheFolder& folder) {
    folder.open({"s3://bucket/other.tar", "1"}, "s3://bucket/other.tar", kBytes, inline_access());
    path = std::filesystem::path(object_files(folder.path()).at(0)).parent_path() / to_hex(key.place);
  }
  std::unique_ptr<CachedObject> open(CacheFolder& folder) const {
    return folder.open(identity, identity.place, kBytes, inline_access());
  }
  static constexpr std::uint64_t kBytes = 100'003;
  const ObjectIdentity identity{"s3://bucket/a.tar", "1"};
  const CacheKey key = CacheKey::of(identity, kBytes);
  std::string path;
};

TEST(DiskCache, CountsAnObjectOnceThatAnotherProcessMakesAtTheSameTime) {
  const TempFolder folder;
  CacheFolder cache(folder.path(), 1 << 20);
  const CachedFile file(cache);
  const std::uint64_t before = cache.used();
  const std::string new_path = file.path + ".new", aside = folder.path("aside");
  FileDescriptor other(::open(new_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);
  std::unique_ptr<CachedObject> object;
  std::jthread opening([&] { object = file.open(cache); });
  while (cache.used() == before) std::this_thread::yield();
  // Now it waits for the lock, with its table reserved. The other process counts the file that it makes.
  EXPECT_TRUE(CachedObject::create(aside, file.key, "s3://bucket/a.tar"));
  std::filesystem::rename(aside, file.path);
  other = FileDescriptor();
  opening.join();
  EXPECT_TRUE(object);
  EXPECT_EQ(cache.used(), before);
  EXPECT_FALSE(CachedObject::create(file.path, file.key, "s3://bucket/a.tar"));
}

TEST(DiskCache, DoesNotCountAnObjectThatCannotBeMade) {
  const TempFolder folder;
  CacheFolder cache(folder.path(), 1 << 20);
  const CachedFile file(cache);
  const std::uint64_t before = cache.used();
  std::filesystem::create_directory(file.path + ".new");  // where its file would be made
  EXPECT_EQ(error_of([&] { file.open(cache); }).kind(), ErrorKind::kIo);
  EXPECT_EQ(cache.used(), before);
}

TEST(DiskCache, ReadsTheSecondTimeFromTheDisk) {
  const TempFolder folder;
  Remote remote("s3://bucket/a.tar", "1", some_bytes(100'003, 1));
  Cache cache(folder.path());
  EXPECT_TRUE(cache.reads_right(remote));
  EXPECT_EQ(remote.reads, 1u);
  EXPECT_TRUE(cache.reads_right(remote));
  EXPECT_TRUE(cache.reads_right(remote, 5000, 50'000));
  EXPECT_EQ(remote.reads, 1u);
  const DiskCacheCounters counters = cache.cache.counters();
  EXPECT_EQ(counters.hits, 2u);
  EXPECT_EQ(counters.misses, 1u);
  EXPECT_EQ(counters.bytes_from_disk, 150'003u);
  EXPECT_EQ(counters.bytes_written, 100'003u);
}

TEST(DiskCache, ReadsFromTheDiskInTheNextProcess) {
  const TempFolder folder;
  Remote remote("s3://bucket/a.tar", "1", some_bytes(100'003, 1));
  EXPECT_TRUE(Cache(folder.path()).reads_right(remote));
  EXPECT_TRUE(Cache(folder.path()).reads_right(remote));
  EXPECT_EQ(remote.reads, 1u);
  EXPECT_EQ(CacheFolder::info(folder.path()).totals.hits, 1u);
}

TEST(DiskCache, NeverServesAnotherVersion) {
  const TempFolder folder;
  Remote before("https://host/a.tar", "\"v1\"", some_bytes(50'000, 1));
  Remote after("https://host/a.tar", "\"v2\"", some_bytes(50'000, 2));
  Remote longer("https://host/a.tar", "\"v2\"", some_bytes(60'000, 2));
  Cache old_reader(folder.path());
  EXPECT_TRUE(old_reader.reads_right(before));
  EXPECT_TRUE(Cache(folder.path()).reads_right(after));
  EXPECT_TRUE(Cache(folder.path()).reads_right(longer));
  EXPECT_TRUE(old_reader.reads_right(before)) << "a process that still has the old one open";
  EXPECT_TRUE(Cache(folder.path()).reads_right(before));
  EXPECT_EQ(object_files(folder.path()).size(), 1u) << "old versions are removed";
}

TEST(DiskCache, FindsFlippedBitsAndFetchesThoseChunksAgain) {
  const TempFolder folder;
  Remote remote("s3://bucket/a.tar", "1", some_bytes(100'003, 1));
  EXPECT_TRUE(Cache(folder.path()).reads_right(remote));
  const std::string file = object_files(folder.path()).at(0);
  const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  std::uint8_t byte = 0;
  const auto at = static_cast<off_t>(CachedObject::table_bytes(100'003) + 3 * kChunk + 17);
  ASSERT_EQ(::pread(fd, &byte, 1, at), 1);
  byte ^= 4;
  ASSERT_EQ(::pwrite(fd, &byte, 1, at), 1);
  ::close(fd);
  {
    Cache cache(folder.path());
    EXPECT_TRUE(cache.reads_right(remote));
    EXPECT_EQ(cache.cache.counters().damaged, 1u);
    EXPECT_EQ(remote.reads, 2u);
    EXPECT_TRUE(cache.reads_right(remote));
    EXPECT_EQ(remote.reads, 2u) << "it was written again";
  }
}

TEST(DiskCache, TakesAFileThatIsNotWholeForNone) {
  const TempFolder folder;
  Remote remote("s3://bucket/a.tar", "1", some_bytes(100'003, 1));
  EXPECT_TRUE(Cache(folder.path()).reads_right(remote));
  const std::string file = object_files(folder.path()).at(0);
  for (const std::uintmax_t size : {std::uintmax_t{0}, std::uintmax_t{100}, std::uintmax_t{5000}}) {
    std::filesystem::resize_file(file, size);
    Cache cache(folder.path());
    EXPECT_TRUE(cache.reads_right(remote));
    EXPECT_TRUE(cache.reads_right(remote));
    EXPECT_EQ(cache.cache.counters().hits, 1u);
  }
}

// A data set of objects of equal samples, each epoch read in another order.
struct Epochs {
  explicit Epochs(const std::string& prefix) {
    for (int i = 0; i < 8; ++i) {
      remotes.push_back(std::make_unique<Remote>(fmt::format("{}/{}.tar", prefix, i), "1",
                                                 some_bytes(kObject, hash64(prefix) + static_cast<std::uint64_t>(i))));
    }
  }
  static constexpr std::size_t kObject = 1 << 20, kSample = 20'000, kEach = kObject / kSample;

  void read(Cache& cache, std::int64_t epoch) {
    std::vector<std::size_t> samples(remotes.size() * kEach);
    std::iota(samples.begin(), samples.end(), 0);
    for (std::size_t i = samples.size(); i > 1; --i) {
      Random random(9, static_cast<std::uint64_t>(epoch), i, 0);
      std::swap(samples[i - 1], samples[random.below(i)]);
    }
    for (std::size_t i = 0; i < samples.size(); ++i) {
      cache.cache.reading(epoch, static_cast<std::int64_t>(i), static_cast<std::int64_t>(samples.size()));
      ASSERT_TRUE(cache.reads_right(*remotes[samples[i] / kEach], samples[i] % kEach * kSample, kSample));
    }
  }
  std::uint64_t hits_of(Cache& cache, std::int64_t epoch) {
    const std::uint64_t before = cache.cache.counters().hits;
    read(cache, epoch);
    return cache.cache.counters().hits - before;
  }

  std::vector<std::unique_ptr<Remote>> remotes;
};

TEST(DiskCache, HitsAsMuchOfAShuffledEpochAsItHasRoomFor) {
  for (const double share : {0.25, 0.5, 0.75}) {
    const TempFolder folder;
    Epochs data("s3://bucket/train");
    const auto size = static_cast<std::uint64_t>(share * 8 * Epochs::kObject);
    Cache cache(folder.path(), size);
    for (std::int64_t epoch = 0; epoch < 5; ++epoch) {
      const double rate = static_cast<double>(data.hits_of(cache, epoch)) / (8 * Epochs::kEach);
      // Samples begin and end within chunks: of those that are kept, ends are kept too.
      EXPECT_GE(rate, epoch == 0 ? 0 : 0.75 * share) << "epoch " << epoch;
      EXPECT_LE(rate, epoch == 0 ? 0 : 1.2 * share);
      EXPECT_LE(disk_bytes(folder.path()), size);
    }
  }
}

TEST(DiskCache, MakesRoomForAnotherDataSetAtOnce) {
  const TempFolder folder;
  const std::uint64_t size = 8 * Epochs::kObject + (1 << 20);
  Epochs first("s3://bucket/first"), second("s3://bucket/second");
  {
    Cache cache(folder.path(), size);
    first.read(cache, 0);
  }
  Cache cache(folder.path(), size);
  second.read(cache, 0);
  EXPECT_GT(second.hits_of(cache, 1), 8 * Epochs::kEach * 9 / 10);
  EXPECT_LE(disk_bytes(folder.path()), size);
}

TEST(DiskCache, ForgetsWhatAnEpochDidNotUse) {
  const TempFolder folder;
  Epochs data("s3://bucket/train");
  Cache cache(folder.path(), 4 * Epochs::kObject + (256 << 10));
  const auto read_objects = [&](std::int64_t epoch, std::size_t first) {
    const std::uint64_t before = cache.cache.counters().hits;
    for (std::size_t i = 0; i < 4; ++i) {
      cache.cache.reading(epoch, static_cast<std::int64_t>(i), 4);
      EXPECT_TRUE(cache.reads_right(*data.remotes[first + i]));
    }
    return cache.cache.counters().hits - before;
  };
  read_objects(0, 0);
  EXPECT_EQ(read_objects(1, 0), 4u);
  EXPECT_EQ(read_objects(2, 4), 0u) << "from now on others are used";
  read_objects(3, 4);
  EXPECT_EQ(read_objects(4, 4), 4u);
}

TEST(DiskCache, KeepsWhatAnEpochThatWasLeftDidNotUse) {
  const TempFolder folder;
  Epochs data("s3://bucket/train");
  Cache cache(folder.path(), 4 * Epochs::kObject + (256 << 10));
  for (std::int64_t i = 0; i < 4; ++i) {
    cache.cache.reading(0, i, 8);
    EXPECT_TRUE(cache.reads_right(*data.remotes[static_cast<std::size_t>(i)]));
  }
  for (std::int64_t epoch = 1; epoch < 4; ++epoch) {
    cache.cache.reading(epoch, 0, 8);
    EXPECT_TRUE(cache.reads_right(*data.remotes[7]));
  }
  const std::uint64_t before = cache.cache.counters().hits;
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(cache.reads_right(*data.remotes[i]));
  EXPECT_EQ(cache.cache.counters().hits - before, 4u);
}

TEST(DiskCache, IsClearedWhileItIsUsed) {
  const TempFolder folder;
  Remote remote("s3://bucket/a.tar", "1", some_bytes(2'000'003, 1));
  Cache cache(folder.path());
  EXPECT_TRUE(cache.reads_right(remote));
  EXPECT_GE(CacheFolder::clear(folder.path()), 2'000'003u);
  EXPECT_LT(disk_bytes(folder.path()), 20'000u);
  EXPECT_TRUE(cache.reads_right(remote));
  EXPECT_EQ(remote.reads, 2u);
  EXPECT_TRUE(cache.reads_right(remote));
  EXPECT_EQ(remote.reads, 2u) << "it was filled again";
  EXPECT_EQ(cache.cache.counters().damaged, 0u);
}

TEST(DiskCache, IsEmptyOnceCleared) {
  const TempFolder folder;
  Remote remote("https://host/a.tar?signature=secret", "1", some_bytes(100'003, 1));
  EXPECT_TRUE(Cache(folder.path()).reads_right(remote));
  EXPECT_EQ(CacheFolder::info(folder.path()).groups.size(), 1u);
  CacheFolder::clear(folder.path());
  EXPECT_TRUE(object_files(folder.path()).empty());
  EXPECT_TRUE(CacheFolder::info(folder.path()).groups.empty());
}

TEST(DiskCache, TouchesNoFolderThatIsNoCache) {
  const TempFolder folder;
  folder.write("stoker-cache", "something else");
  folder.write("0123456789abcdef/0123456789abcdef", "data");
  EXPECT_EQ(error_of([&] { CacheFolder::clear(folder.path()); }).kind(), ErrorKind::kUsage);
  EXPECT_EQ(error_of([&] { CacheFolder::info(folder.path("none")); }).kind(), ErrorKind::kNotFound);
  const Warnings warnings;
  Remote remote("s3://bucket/a.tar", "1", some_bytes(100'003, 1));
  EXPECT_TRUE(Cache(folder.path()).reads_right(remote));
  EXPECT_EQ(warnings.texts.size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(folder.path("0123456789abcdef/0123456789abcdef")));
}

TEST(DiskCache, GoesOnWithoutAFolderAndSaysSoOnce) {
  const TempFolder folder;
  folder.write("file", "this is no folder");
  const Warnings warnings;
  Remote remote("s3://bucket/a.tar", "1", some_bytes(100'003, 1));
  Cache cache(folder.path("file/cache"));
  EXPECT_TRUE(cache.reads_right(remote));
  EXPECT_TRUE(cache.reads_right(remote));
  EXPECT_EQ(warnings.texts.size(), 1u);
}

TEST(DiskCache, SaysOnceWhatItCannotKeep) {
  const TempFolder folder;
  const Warnings warnings;
  Cache cache(folder.path("cache"));
  MemorySource far("http://h/a.tar", some_bytes(10, 1), true), farther("http://h/b.tar", some_bytes(10, 2), true);
  MemorySource nearby("c.tar", some_bytes(10, 3));
  for (Source* const source : {&nearby, &far, &farther}) EXPECT_EQ(&cache.cache.in_front_of(*source), source);
  EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("does not keep 'http://h/a.tar'")));
}

TEST(DiskCache, GoesOnWhereTheDiskTakesNoMore) {
  const TempFolder folder;
  const int status = status_in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{600'000, 600'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    const Warnings warnings;
    Remote fits("s3://bucket/a.tar", "1", some_bytes(500'000, 1));
    Remote large("s3://bucket/b.tar", "1", some_bytes(2'000'003, 2));
    Cache cache(folder.path());
    for (int i = 0; i < 3; ++i) {
      if (!cache.reads_right(fits) || !cache.reads_right(large)) return 3;
    }
    if (warnings.texts.size() != 1) return 4;
    return fits.reads == 1 ? 0 : 5;
  });
  EXPECT_EQ(status, 0);
}

TEST(DiskCache, ServesNothingTornAfterAKillAtAnyTime) {
  const TempFolder folder;
  std::vector<Epochs> data;  // which a cache in front of them does not outlive
  for (int name = 0; name < 3; ++name) data.emplace_back(fmt::format("s3://bucket/{}", name));
  std::uint64_t hits = 0;
  const int kills = std::getenv("STOKER_TEST_FULL") ? 300 : 40;
  for (int kill = 0; kill < kills; ++kill) {
    status_in_child([&] {
      Random random(5, 0, static_cast<std::uint64_t>(kill), 0);
      std::signal(SIGPROF, SIG_DFL);
      const itimerval timer{{}, {0, static_cast<suseconds_t>(random.below(20'000) + 1)}};
      ::setitimer(ITIMER_PROF, &timer, nullptr);
      for (std::int64_t epoch = kill;; ++epoch) {
        Cache cache(folder.path(), 5 * Epochs::kObject);
        data[static_cast<std::size_t>(epoch % 3)].read(cache, epoch);
      }
      return 0;
    });
    Cache cache(folder.path(), 5 * Epochs::kObject);
    for (const Epochs& objects : data) {
      for (const auto& remote : objects.remotes) {
        for (std::size_t sample = 0; sample < Epochs::kEach; ++sample) {
          ASSERT_TRUE(cache.reads_right(*remote, sample * Epochs::kSample, Epochs::kSample)) << "kill " << kill;
        }
      }
    }
    hits += cache.cache.counters().hits;
    EXPECT_EQ(cache.cache.counters().damaged, 0u);
    EXPECT_LE(disk_bytes(folder.path()), 5 * Epochs::kObject);
  }
  EXPECT_GT(hits, 0u) << "nothing was ever left";
}

TEST(DiskCache, IsFilledByTwoProcessesAtOnce) {
  const TempFolder folder;
  const std::uint64_t size = 6 * Epochs::kObject;
  const auto fill = [&] {
    Epochs data("s3://bucket/train");
    Cache cache(folder.path(), size);
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) data.read(cache, epoch);
    return ::testing::Test::HasFailure() || cache.cache.counters().damaged > 0 ? 1 : 0;
  };
  int statuses[3] = {-1, -1, -1};
  {
    std::vector<std::jthread> threads;
    for (int& status : statuses) threads.emplace_back([&] { status = status_in_child(fill); });
    for (int i = 0; i < 20; ++i) {
      if (std::filesystem::exists(folder.path("stoker-cache"))) {
        // It may not be whole yet.
        static_cast<void>(fault_of_data([&] { CacheFolder::clear(folder.path()); }));
      }
    }
  }
  EXPECT_THAT(statuses, ElementsAre(0, 0, 0));
  EXPECT_LE(disk_bytes(folder.path()), size);
}

TEST(DiskCache, DropsWhatItCannotWriteInTime) {
  const TempFolder folder;
  struct Never final : Executor {
    void submit(Task task) override { waiting = task; }
    Task waiting{};
  };
  const auto never = std::make_shared<Never>();
  Remote remote("s3://bucket/a.tar", "1", some_bytes(100'003, 1));
  DiskCache cache({.folder = folder.path(), .bytes_max = 1 << 20, .write_bytes_max = 100'000}, inline_access(), never);
  std::vector<std::uint8_t> bytes(100'003);
  read_fully(cache.in_front_of(remote), 0, bytes);
  EXPECT_EQ(cache.counters().dropped, 1u);
  bytes.resize(50'000);
  read_fully(cache.in_front_of(remote), 0, bytes);
  never->waiting.run(never->waiting.context);
  read_fully(cache.in_front_of(remote), 0, bytes);
  EXPECT_EQ(cache.counters().hits, 1u);
}

}  // namespace
}  // namespace stoker
