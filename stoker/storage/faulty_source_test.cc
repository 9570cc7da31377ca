#include "stoker/storage/faulty_source_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "stoker/base/error.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

std::shared_ptr<Source> ten_bytes() {
  return std::make_shared<MemorySource>("memory", std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

/// Which of `reads` reads fail.
std::vector<bool> failures(FaultySource& source, int reads) {
  std::vector<bool> failed;
  for (int i = 0; i < reads; ++i) {
    std::uint8_t byte = 0;
    try {
      read_fully(source, 5, MutableBytes(&byte, 1));
      EXPECT_EQ(byte, 5);
      failed.push_back(false);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
      failed.push_back(true);
    }
  }
  return failed;
}

TEST(FaultySource, FailsARangeForGood) {
  FaultySource source(ten_bytes(), {.fail_reads = {1}, .for_good = true});
  std::uint8_t byte[1];
  read_fully(source, 3, byte);
  EXPECT_THROW(read_fully(source, 3, byte), Error);
  EXPECT_THROW(read_fully(source, 3, byte), Error);
  read_fully(source, 4, byte);
}

TEST(FaultySource, FailsTheReadItWasToldTo) {
  FaultySource source(ten_bytes(), {.fail_reads = {2}});
  EXPECT_EQ(failures(source, 5), (std::vector<bool>{false, false, true, false, false}));
}

TEST(FaultySource, BeginsAgainWithOtherFaults) {
  FaultySource source(ten_bytes(), {.fail_reads = {1}, .for_good = true});
  EXPECT_EQ(failures(source, 3), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(source.started(), 3);
  source.begin_again({.fail_reads = {2}});
  EXPECT_EQ(source.started(), 0);
  EXPECT_EQ(failures(source, 4), (std::vector<bool>{false, false, true, false}));
}

TEST(FaultySource, FailsByChanceTheSameWayForTheSameSeed) {
  FaultySource first(ten_bytes(), {.fail_probability = 0.25, .seed = 3});
  FaultySource again(ten_bytes(), {.fail_probability = 0.25, .seed = 3});
  FaultySource other(ten_bytes(), {.fail_probability = 0.25, .seed = 4});
  const std::vector<bool> failed = failures(first, 1000);
  const auto count = std::count(failed.begin(), failed.end(), true);
  EXPECT_GT(count, 180);
  EXPECT_LT(count, 320);
  EXPECT_EQ(failures(again, 1000), failed);
  EXPECT_NE(failures(other, 1000), failed);
}

struct Reads {
  explicit Reads(std::size_t count) : bytes(count), pieces(count), requests(count) {
    for (std::size_t i = 0; i < count; ++i) {
      requests[i].offset = i;
      pieces[i] = MutableBytes(&bytes[i], 1);
      requests[i].into = Pieces(&pieces[i], 1);
      requests[i].context = this;
      requests[i].done = [](ReadRequest& request) noexcept {
        static_cast<Reads*>(request.context)->completed.push_back(request.offset);
      };
    }
  }

  std::vector<std::uint8_t> bytes;
  std::vector<MutableBytes> pieces;
  std::vector<ReadRequest> requests;
  std::vector<std::uint64_t> completed;
};

TEST(FaultySource, CompletesHeldReadsInTheOrderOfTheirRelease) {
  Reads reads(5);
  FaultySource source(ten_bytes(), {.hold = true});
  for (ReadRequest& request : reads.requests) source.start(request);
  EXPECT_TRUE(reads.completed.empty());
  source.wait_until_held(5);
  source.release(3);
  source.release(0);
  source.release_all();
  EXPECT_EQ(reads.completed, (std::vector<std::uint64_t>{3, 0, 1, 2, 4}));
  EXPECT_EQ(reads.bytes, (std::vector<std::uint8_t>{0, 1, 2, 3, 4}));
}

TEST(FaultySource, CompletesWhatItStillHoldsWhenItIsDestroyed) {
  Reads reads(2);
  auto source = std::make_unique<FaultySource>(ten_bytes(), FaultyOptions{.fail_reads = {1}, .hold = true});
  for (ReadRequest& request : reads.requests) source->start(request);
  source.reset();
  EXPECT_EQ(reads.completed, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_FALSE(reads.requests[0].error);
  EXPECT_TRUE(reads.requests[1].error);
}

TEST(FaultySource, LetsAnotherThreadWaitForHeldReads) {
  FaultySource source(ten_bytes(), {.hold = true});
  std::uint8_t byte = 0;
  std::jthread reader([&] { read_fully(source, 7, MutableBytes(&byte, 1)); });
  source.wait_until_held(1);
  EXPECT_EQ(byte, 0);
  source.release(0);
  reader.join();
  EXPECT_EQ(byte, 7);
}

}  // namespace
}  // namespace stoker
