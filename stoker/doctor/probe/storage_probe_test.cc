#include "stoker/doctor/probe/storage_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "stoker/base/error_testing.h"
#include "stoker/doctor/probe/shard_reads.h"
#include "stoker/doctor/probe/storage_device.h"
#include "stoker/doctor/probe/stored_reads.h"
#include "stoker/pack/synth/synth.h"
#include "stoker/runtime/open.h"
#include "stoker/runtime/thread_pool.h"
#include "stoker/storage/faulty_preadv_testing.h"
#include "stoker/storage/pread_io.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;

const ProbeLimits kShort{.quick = true, .time_share = 0.02};

std::string synthesized(const TempFolder& folder, const std::string& name, SynthFormat format, int count) {
  const std::string path = folder.path(name);
  synthesize(path, {.kind = SynthKind::kTiny, .format = format, .count = count, .classes = 2, .threads = 1});
  return path;
}

/// On a disk that counts what it reads; not in memory.
bool is_on_a_disk(const TempFolder& folder) {
  const StorageDevice device = storage_device_of(folder.path());
  return device.disk && !device.in_memory && DeviceReads(device).bytes();
}

/// Of each size one by one at least: a machine may be too slow for all depths.
void expect_reads(const std::vector<ReadFacts>& reads, const std::vector<std::uint64_t>& sizes) {
  std::vector<std::uint64_t> alone;
  for (const ReadFacts& each : reads) {
    if (each.depth == 1) alone.push_back(each.bytes);
  }
  EXPECT_EQ(alone, sizes);
  for (const ReadFacts& each : reads) {
    EXPECT_GT(each.reads_per_s.median, 0) << each.bytes << " x " << each.depth;
    EXPECT_GT(each.latency_s.median, 0) << each.bytes << " x " << each.depth;
  }
}

TEST(StorageProbe, ReadsShardsColdAndWarm) {
  const TempFolder folder;
  const auto dataset = open(synthesized(folder, "shards", SynthFormat::kTar, 1500));
  const DataFiles files = find_data_files(*dataset, 100);
  EXPECT_EQ(files.files.size(), 2u);
  EXPECT_FALSE(files.loose());
  std::vector<std::string> doubts;
  const StorageFacts facts = probe_storage(files, {}, kShort, doubts);
  // Where reads are direct, with the unit that is read besides.
  const std::uint64_t record = facts.cold.front().bytes;
  EXPECT_THAT(record, AnyOf(files.record_bytes, files.record_bytes + 512));
  expect_reads(facts.cold, {record, 4096, 1 << 20});
  expect_reads(facts.warm, {record, 4096, 1 << 20});
  EXPECT_GT(facts.cold_bytes_per_s.median, 0);
  EXPECT_FALSE(facts.cold_opens_per_s.known()) << "they are opened once";
  EXPECT_THAT(doubts, Contains(HasSubstr("cache of its own"))) << "it is little";
  if (!is_on_a_disk(folder)) GTEST_SKIP() << "no disk to read cold from";
  for (const ReadFacts& each : facts.cold) EXPECT_EQ(each.reads_per_s.caveat, "") << each.bytes << " x " << each.depth;
  for (const ReadFacts& each : facts.warm) EXPECT_EQ(each.reads_per_s.caveat, "") << each.bytes << " x " << each.depth;
}

TEST(StorageProbe, OpensAndReadsLooseFiles) {
  const TempFolder folder;
  const auto dataset = open(synthesized(folder, "loose", SynthFormat::kFolder, 200));
  const DataFiles files = find_data_files(*dataset, 150);
  EXPECT_EQ(files.files.size(), 150u);
  EXPECT_TRUE(files.loose());
  std::vector<std::string> doubts;
  const StorageFacts facts = probe_storage(files, {}, kShort, doubts);
  expect_reads(facts.cold, {files.record_bytes});
  expect_reads(facts.warm, {files.record_bytes});
  EXPECT_GT(facts.warm_opens_per_s.median, 0);
  EXPECT_THAT(facts.cold_opens_per_s.caveat, HasSubstr("had these files in its cache already"))
      << "they were just written";
  if (is_on_a_disk(folder)) {
    for (const ReadFacts& each : facts.cold) EXPECT_EQ(each.reads_per_s.caveat, "") << each.depth;
  }
}

TEST(StorageProbe, SaysThatMemoryIsNoDisk) {
  if (!std::filesystem::is_directory("/dev/shm") || storage_device_of("/dev/shm").file_system != "tmpfs") {
    GTEST_SKIP() << "no tmpfs at /dev/shm";
  }
  std::string pattern = "/dev/shm/stoker-test-XXXXXX";
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  struct Removed {
    const std::string& path;
    ~Removed() { std::filesystem::remove_all(path); }
  } const removed{pattern};
  synthesize(pattern + "/a.tar",
             {.kind = SynthKind::kTiny, .format = SynthFormat::kTar, .count = 300, .classes = 2, .threads = 1});
  const auto dataset = open(pattern + "/a.tar");
  std::vector<std::string> doubts;
  const StorageFacts facts = probe_storage(find_data_files(*dataset, 50), {}, kShort, doubts);
  EXPECT_EQ(facts.device_class, "memory");
  EXPECT_THAT(doubts, Contains(HasSubstr("no disk was measured")));
  ASSERT_FALSE(facts.cold.empty());
  EXPECT_THAT(facts.cold.front().reads_per_s.caveat, HasSubstr("page cache"));
}

TEST(StorageProbe, NamesAFileThatMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TempFolder folder;
  const std::string path = synthesized(folder, "a.tar", SynthFormat::kTar, 10);
  const auto dataset = open(path);
  const DataFiles files = find_data_files(*dataset, 10);
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  std::vector<std::string> doubts;
  EXPECT_THAT(error_of([&] { probe_storage(files, {}, kShort, doubts); }).message(), HasSubstr("a.tar"));
}

TEST(StorageProbe, NamesAFileThatIsGone) {
  const TempFolder folder;
  const std::string path = synthesized(folder, "loose", SynthFormat::kFolder, 20);
  const auto dataset = open(path);
  const DataFiles files = find_data_files(*dataset, 20);
  std::filesystem::remove(files.files[3].path);
  std::vector<std::string> doubts;
  EXPECT_THAT(error_of([&] { probe_storage(files, {}, kShort, doubts); }).message(), HasSubstr(files.files[3].path));
}

TEST(StorageProbe, NamesAFileOnADiskThatErrs) {
  const TempFolder folder;
  const auto dataset = open(synthesized(folder, "a.tar", SynthFormat::kTar, 50));
  const DataFiles files = find_data_files(*dataset, 20);
  const auto threads = std::make_shared<ThreadPool>("test", 2, 8);
  ShardReads reads(files, FileAccess(threads, std::make_shared<PreadIo>(threads, faulty_preadv)),
                   storage_device_of(files.files.front().path));
  const StoredRead read{.bytes = 4096, .depth = 4, .seconds = 0.01};
  set_preadv_faults({});
  EXPECT_GT(reads.read_cold(read).reads, 0);
  set_preadv_faults({.number = 2, .for_good = true});
  EXPECT_THAT(error_of([&] { reads.read_cold(read); }).message(),
              AllOf(HasSubstr(files.files.front().path), HasSubstr("Input/output error")));
  set_preadv_faults({});
}

TEST(StorageProbe, StopsWhenAsked) {
  const TempFolder folder;
  const auto dataset = open(synthesized(folder, "a.tar", SynthFormat::kTar, 10));
  std::stop_source stop;
  stop.request_stop();
  std::vector<std::string> doubts;
  const Error error = error_of(
      [&] { probe_storage(find_data_files(*dataset, 10), {}, {.quick = true, .stop = stop.get_token()}, doubts); });
  EXPECT_EQ(error.kind(), ErrorKind::kClosed);
}

TEST(ReadEvidence, TellsColdFromWarm) {
  EXPECT_EQ((ReadEvidence{.wanted = 100, .from_device = 95}).caveat_of_cold(), "");
  EXPECT_EQ((ReadEvidence{.wanted = 100, .from_device = 25}).caveat_of_cold(),
            "75% of the bytes came from the page cache");
  EXPECT_EQ((ReadEvidence{.wanted = 100, .from_device = 2}).caveat_of_warm(), "");
  EXPECT_EQ((ReadEvidence{.wanted = 100, .from_device = 30}).caveat_of_warm(), "30% of the bytes came from the device");
  EXPECT_THAT((ReadEvidence{.is_known = false}).caveat_of_cold(), HasSubstr("does not tell"));
}

TEST(SpreadSamples, CoverTheDataSetEvenly) {
  const TempFolder folder;
  const auto dataset = open(synthesized(folder, "a.tar", SynthFormat::kTar, 10));
  EXPECT_EQ(spread_samples(*dataset, 4), (std::vector<std::int64_t>{0, 2, 5, 7}));
  EXPECT_EQ(spread_samples(*dataset, 50).size(), 10u);
}

}  // namespace
}  // namespace stoker
