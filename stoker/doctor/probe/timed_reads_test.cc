#include "stoker/doctor/probe/timed_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/runtime/open_stores.h"
#include "stoker/storage/file_source.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

TEST(TimedReads, CountsWhatWasRead) {
  const TempFolder folder;
  FileSource source(folder.write("a", std::string(100'000, 'x')), open_file_access());
  std::uint64_t at = 0;
  const NextPlace next = [&]() -> std::optional<ReadPlace> {
    if (at >= 100'000) return std::nullopt;
    const std::uint64_t begin = at;
    at += 1000;
    return ReadPlace{.source = &source, .offset = begin, .bytes = 1000};
  };
  const TimedReads reads = time_reads(next, 1000, {.depth = 7, .most_ns = INT64_MAX});
  EXPECT_EQ(reads.reads, 100);
  EXPECT_EQ(reads.bytes, 100'000u);
  EXPECT_EQ(reads.latencies_s.size(), 100u);
  EXPECT_GT(reads.ns, 0);
}

TEST(TimedReads, TellsWhatACoreWouldReadThatNothingIsKeptFrom) {
  // Half of the time was another's.
  const TimedReads held_back{
      .reads = 100, .bytes = 1000, .ns = 2'000'000'000, .cpu_ns = 1'000'000'000, .latencies_s = {}};
  EXPECT_EQ(held_back.reads_per_s(), 50);
  EXPECT_EQ(held_back.reads_per_s_at_work(), 100);
  EXPECT_EQ(held_back.bytes_per_s_at_work(), 1000);
  // Several cores at once.
  const TimedReads many{.reads = 100, .ns = 1'000'000'000, .cpu_ns = 3'000'000'000, .latencies_s = {}};
  EXPECT_EQ(many.reads_per_s_at_work(), 100);
}

TEST(TimedReads, EndsWhenTheTimeIsOver) {
  const TempFolder folder;
  FileSource source(folder.write("a", "abc"), open_file_access());
  const NextPlace always = [&] { return ReadPlace{.source = &source, .offset = 0, .bytes = 3}; };
  EXPECT_EQ(time_reads(always, 3, {.depth = 2, .most_ns = 0, .least_reads = 5}).reads, 5);
}

TEST(TimedReads, ThrowsTheErrorOfARead) {
  const TempFolder folder;
  FileSource source(folder.write("a", "abc"), open_file_access());
  const NextPlace beyond = [&] { return ReadPlace{.source = &source, .offset = 2, .bytes = 3}; };
  const Error error = error_of([&] { time_reads(beyond, 3, {.depth = 4, .most_ns = INT64_MAX}); });
  EXPECT_THAT(error.message(), HasSubstr(source.name()));
}

}  // namespace
}  // namespace stoker
