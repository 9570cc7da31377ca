#include "stoker/pack/sample_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/storage/faulty_source_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kRun = 1024;  // bytes of one value
std::uint8_t byte_at(std::uint64_t place) { return static_cast<std::uint8_t>(place / kRun + (place >> 20)); }

/// Samples of given sizes, one after the other.
class Samples final : public SampleStream {
 public:
  explicit Samples(std::vector<std::uint64_t> sizes, FaultyOptions faults = {}, bool are_remote = false)
      : sizes_(std::move(sizes)) {
    std::size_t total = 0;
    for (const std::uint64_t size : sizes_) total += size;
    std::vector<std::uint8_t> bytes(total);
    for (std::size_t i = 0; i < total; i += kRun) std::memset(&bytes[i], byte_at(i), std::min(kRun, total - i));
    source_ =
        std::make_unique<FaultySource>(std::make_shared<MemorySource>("memory", std::move(bytes), are_remote), faults);
  }
  bool next(SampleRow& row) override {
    if (next_ == sizes_.size()) return false;
    row.clear();
    row.key = fmt::format("{}", next_);
    row.source = source_.get();
    row.fields.push_back({.name = "bin", .part = {}, .offset = offset_, .length = sizes_[next_]});
    offset_ += sizes_[next_++];
    return true;
  }

 private:
  std::vector<std::uint64_t> sizes_;
  std::unique_ptr<FaultySource> source_;
  std::size_t next_ = 0;
  std::uint64_t offset_ = 0;
};

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

SampleSweep::Work nothing() {
  return [](SweptSample&) {};
}

TEST(SampleSweep, HoldsNoMoreBytesThanItMay) {
  for (const int threads : {1, 2, 8}) {
    Samples samples(std::vector<std::uint64_t>(40, 3 * kMebibyte));
    SampleSweep sweep(samples, {.threads = threads, .bytes_max = 10 * kMebibyte}, nothing);
    std::uint64_t at = 0;
    for (int i = 0; i < 40; ++i) {
      const SweptSample* sample = sweep.next();
      ASSERT_TRUE(sample);
      EXPECT_EQ(sample->row.key, fmt::format("{}", i));
      EXPECT_EQ(sample->fields[0].size(), 3 * kMebibyte);
      EXPECT_EQ(sample->fields[0][1024], byte_at(at + 1024));
      at += 3 * kMebibyte;
    }
    EXPECT_FALSE(sweep.next());
    EXPECT_LE(sweep.bytes_held_max(), 10 * kMebibyte) << threads << " threads";
  }
}

TEST(SampleSweep, TakesLargerSamplesOneAtATime) {
  Samples samples({5 * kMebibyte, 100, 7 * kMebibyte, 6 * kMebibyte, 0, 100, 5 * kMebibyte});
  SampleSweep sweep(samples, {.threads = 4, .bytes_max = 4 * kMebibyte}, nothing);
  for (int i = 0; i < 7; ++i) {
    const SweptSample* sample = sweep.next();
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->row.key, fmt::format("{}", i));
  }
  EXPECT_FALSE(sweep.next());
  EXPECT_LE(sweep.bytes_held_max(), 7 * kMebibyte);
}

TEST(SampleSweep, CountsWhatWorkMakes) {
  for (const int threads : {1, 2, 8}) {
    Samples samples(std::vector<std::uint64_t>(20, kMebibyte));
    SampleSweep sweep(samples, {.threads = threads, .bytes_max = 24 * kMebibyte, .growth = 10},
                      [] { return [](SweptSample& sample) { sample.made.resize(10 * kMebibyte); }; });
    int count = 0;
    while (sweep.next()) ++count;
    EXPECT_EQ(count, 20);
    EXPECT_LE(sweep.bytes_held_max(), 24 * kMebibyte) << threads << " threads";
  }
}

// Images of one colour: much more is made of them than was expected.
TEST(SampleSweep, HoldsLittleMoreThanItMayWhereWorkMakesMoreThanExpected) {
  for (const int threads : {1, 2}) {
    Samples samples(std::vector<std::uint64_t>(50, 1024));
    SampleSweep sweep(samples, {.threads = threads, .bytes_max = 24 * kMebibyte, .growth = 24},
                      [] { return [](SweptSample& sample) { sample.made.resize(10 * kMebibyte); }; });
    int count = 0;
    while (sweep.next()) ++count;
    EXPECT_EQ(count, 50);
    EXPECT_LE(sweep.bytes_held_max(), (24 + static_cast<unsigned>(threads + 1) * 12) * kMebibyte)
        << threads << " threads";
  }
}

TEST(SampleSweep, EndsWhileItsThreadsWaitForMemory) {
  Samples samples(std::vector<std::uint64_t>(40, 3 * kMebibyte));
  SampleSweep sweep(samples, {.threads = 4, .bytes_max = kMebibyte}, nothing);
  EXPECT_TRUE(sweep.next());
}

TEST(SampleSweep, NamesASampleThatIsTooLargeForItsBudgetAndOneThatWouldDo) {
  constexpr std::uint64_t kBudget = 70'000'000;
  const std::uint64_t most = divide_job_memory(kBudget, 2).read;
  for (const bool bad_if_unread : {false, true}) {
    Samples samples({100, most, most + 1});
    SampleSweep sweep(samples, {.threads = 2, .memory = kBudget, .bad_if_unread = bad_if_unread}, nothing);
    EXPECT_TRUE(sweep.next());
    EXPECT_TRUE(sweep.next());
    const Error error = error_of([&] { sweep.next(); });
    EXPECT_EQ(error.kind(), ErrorKind::kMemory) << "it is not the sample that is bad";
    EXPECT_THAT(error.what(), AllOf(HasSubstr("sample '2'"), HasSubstr(job_memory_for(most + 1, 0, 2))));
  }
}

/// A sample whose fields have 2^64 bytes together, and a small one after it.
class Uncountable final : public SampleStream {
 public:
  bool next(SampleRow& row) override {
    if (next_ == 2) return false;
    row.clear();
    row.key = fmt::format("{}", next_);
    row.source = &source_;
    const std::uint64_t length = next_ == 0 ? std::uint64_t{1} << 62 : 25;
    for (const char* const name : {"a", "b", "c", "d"}) {
      row.fields.push_back({.name = name, .part = {}, .offset = 0, .length = length});
    }
    ++next_;
    return true;
  }

 private:
  MemorySource source_{"memory", std::vector<std::uint8_t>(100, 'a')};
  int next_ = 0;
};

TEST(SampleSweep, TakesNoMemoryForASampleWhoseBytesCannotBeCounted) {
  for (const bool bad_if_unread : {false, true}) {
    Uncountable samples;
    SampleSweep sweep(samples, {.threads = 1, .bad_if_unread = bad_if_unread}, nothing);
    constexpr const char* kWhy = "more than this machine can hold for one sample";
    if (!bad_if_unread) {
      const Error error = error_of([&] { sweep.next(); });
      EXPECT_EQ(error.kind(), ErrorKind::kLimit);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("sample '0'"), HasSubstr(kWhy)));
      continue;
    }
    EXPECT_THAT(sweep.next()->bad, HasSubstr(kWhy));
    EXPECT_EQ(sweep.next()->fields.size(), 4u);
    EXPECT_FALSE(sweep.next());
  }
}

TEST(SampleSweep, LetsLargeSamplesTakeTurnsToBeWorkedOn) {
  constexpr std::uint64_t kBudget = 200'000'000;
  for (const int threads : {1, 4}) {
    const JobMemory memory = divide_job_memory(kBudget, threads);
    Samples samples(std::vector<std::uint64_t>(60, 1024));
    SampleSweep sweep(samples, {.threads = threads, .memory = kBudget, .growth = 24}, [&] {
      return [&](SweptSample& sample) {
        sample.turn->enter(memory.oldest - 1000);
        sample.made.resize(memory.oldest / 2);
      };
    });
    int count = 0;
    while (sweep.next()) ++count;
    EXPECT_EQ(count, 60);
    EXPECT_LE(sweep.work_bytes_max(), memory.shared + memory.oldest) << threads << " threads";
  }
}

// Five neighbours are read in one range, which fails, and then one by one.
TEST(SampleSweep, TakesWhatCannotBeReadForABadSampleIfToldTo) {
  constexpr int kBad = 3;
  for (const bool told_to : {true, false}) {
    std::set<std::string> worked_on;
    Samples samples({10, 20, 30, 40, 50}, {.fail_reads = {0, 1 + kBad}});
    SampleSweep sweep(samples, {.threads = 1, .bad_if_unread = told_to},
                      [&] { return [&](SweptSample& sample) { worked_on.insert(sample.row.key); }; });
    if (!told_to) {
      const Error error = error_of([&] { sweep.next(); });
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
      EXPECT_THAT(error.what(), HasSubstr("sample '3'"));
      continue;
    }
    for (int i = 0; i < 5; ++i) {
      const SweptSample* sample = sweep.next();
      ASSERT_TRUE(sample);
      EXPECT_EQ(sample->row.key, fmt::format("{}", i));
      EXPECT_EQ(sample->bad.empty(), i != kBad) << sample->bad;
      EXPECT_EQ(sample->fields.size(), i == kBad ? 0u : 1u);
    }
    EXPECT_FALSE(sweep.next());
    EXPECT_THAT(worked_on, ElementsAre("0", "1", "2", "4"));
  }
}

TEST(SampleSweep, TakesNoSampleForABadOneThatAStoreDoesNotGive) {
  Samples samples({10, 20}, {.fail_reads = {0, 2}}, true);
  SampleSweep sweep(samples, {.threads = 1, .bad_if_unread = true}, nothing);
  const Error error = error_of([&] { sweep.next(); });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_THAT(error.what(), HasSubstr("sample '1'"));
}

TEST(SampleSweep, SaysWhichSampleTheMemoryWasMissingFor) {
  Samples samples({100});
  SampleSweep sweep(samples, {.threads = 1}, [] { return [](SweptSample&) { throw std::bad_alloc(); }; });
  const Error error = error_of([&] { sweep.next(); });
  EXPECT_EQ(error.kind(), ErrorKind::kMemory);
  EXPECT_THAT(error.what(), HasSubstr("sample '0'"));
}

/// The second of two samples lies after the first, but in another source.
class TwoSources final : public SampleStream {
 public:
  bool next(SampleRow& row) override {
    if (next_ == 2) return false;
    row.clear();
    row.source = &sources_[next_];
    row.fields.push_back({.name = "bin", .part = {}, .offset = 100 * next_, .length = 100});
    ++next_;
    return true;
  }

 private:
  MemorySource sources_[2] = {{"a", std::vector<std::uint8_t>(200, 'a')}, {"b", std::vector<std::uint8_t>(200, 'b')}};
  std::uint64_t next_ = 0;
};

TEST(SampleSweep, ReadsEachSampleFromItsOwnSource) {
  TwoSources samples;
  SampleSweep sweep(samples, {.threads = 1}, nothing);
  EXPECT_EQ(sweep.next()->fields[0][0], 'a');
  EXPECT_EQ(sweep.next()->fields[0][0], 'b');
}

TEST(SampleSweep, ReadsAllOfALargeSample) {
  Samples samples({100, 35 * kMebibyte, 100});
  SampleSweep sweep(samples, {.threads = 1}, nothing);
  ASSERT_TRUE(sweep.next());
  const SweptSample* sample = sweep.next();
  ASSERT_EQ(sample->fields[0].size(), 35 * kMebibyte);
  for (std::size_t i = 0; i < sample->fields[0].size(); i += 512)
    ASSERT_EQ(sample->fields[0][i], byte_at(100 + i)) << i;
}

/// Asks to stop when it is first read from, and counts how often it is.
class Stopping final : public Source, public SampleStream {
 public:
  Stopping(std::uint64_t sample_bytes, std::stop_source& stop) : sample_bytes_(sample_bytes), stop_(stop) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size(std::string_view) const override { return 1000 * sample_bytes_; }
  void start(ReadRequest& request) override {
    ++reads;
    stop_.request_stop();
    request.error = nullptr;
    request.done(request);
  }
  bool next(SampleRow& row) override {
    if (sample_bytes_ == 0) stop_.request_stop();
    row.clear();
    row.source = this;
    row.key = fmt::format("{}", rows++);
    row.fields.push_back({.name = "bin", .part = {}, .offset = 0, .length = sample_bytes_});
    return rows < 1000;
  }
  int reads = 0, rows = 0;

 private:
  const std::string name_ = "stopping";
  const std::uint64_t sample_bytes_;
  std::stop_source& stop_;
};

/// Sweeps until the sweep is stopped at its first sample; its thread has ended then.
void sweep_until_stopped(SampleStream& samples, const std::stop_source& stop,
                         const std::function<SampleSweep::Work()>& make_work) {
  SampleSweep sweep(samples, {.threads = 1, .stop = stop.get_token()}, make_work);
  EXPECT_EQ(error_of([&] { sweep.next(); }).kind(), ErrorKind::kClosed);
}

TEST(SampleSweep, StopsWithinALargeSampleAndBetweenManyWithoutBytes) {
  std::stop_source stop;
  Stopping large(100 * kMebibyte, stop);
  sweep_until_stopped(large, stop, nothing);
  EXPECT_EQ(large.reads, 1);

  std::stop_source again;
  Stopping empty(0, again);
  sweep_until_stopped(empty, again, nothing);
  EXPECT_EQ(empty.rows, 1);
}

TEST(SampleSweep, StopsBetweenSamplesThatWereReadTogether) {
  std::stop_source stop;
  int worked_on = 0;
  Samples samples(std::vector<std::uint64_t>(40, 10));
  sweep_until_stopped(samples, stop, [&] {
    return [&](SweptSample&) {
      ++worked_on;
      stop.request_stop();
    };
  });
  EXPECT_EQ(worked_on, 1);
}

TEST(SampleSweep, StopsBetweenSamples) {
  std::stop_source stop;
  Samples samples(std::vector<std::uint64_t>(40, kMebibyte));
  SampleSweep sweep(samples, {.threads = 2, .stop = stop.get_token()}, nothing);
  EXPECT_TRUE(sweep.next());
  stop.request_stop();
  EXPECT_EQ(error_of([&] { sweep.next(); }).kind(), ErrorKind::kClosed);
}

}  // namespace
}  // namespace stoker
