#include "stoker/storage/kept_chunks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/random.h"
#include "stoker/storage/faulty_source_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

constexpr std::uint64_t kChunk = KeptChunks::kChunkBytes, kValue = 1000;

std::vector<std::uint8_t> random_bytes(std::size_t count) {
  std::uint64_t state = 1;
  std::vector<std::uint8_t> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>((state = state * 6364136223846793005U + 1) >> 56);
  return bytes;
}

/// A distant object that notes what is read of it.
class NotedSource final : public Source {
 public:
  explicit NotedSource(std::shared_ptr<Source> object) : object_(std::move(object)) {}

  const std::string& name() const override { return object_->name(); }
  std::uint64_t size(std::string_view part = {}) const override { return object_->size(part); }
  bool is_remote() const override { return true; }
  void start(ReadRequest& request) override {
    ++requests;
    bytes += request.length();
    object_->start(request);
  }

  std::uint64_t requests = 0, bytes = 0;

 private:
  const std::shared_ptr<Source> object_;
};

class KeptChunksTest : public ::testing::Test {
 protected:
  Source& keep(std::uint64_t bytes_max = UINT64_MAX, FaultyOptions faults = {}) {
    faulty_ = std::make_shared<FaultySource>(std::make_shared<MemorySource>("object", content_), std::move(faults));
    noted_ = std::make_shared<NotedSource>(faulty_);
    kept_ = std::make_unique<KeptChunks>(bytes_max);
    return kept_->in_front_of(*noted_);
  }
  /// How many requests the read made of the object.
  std::uint64_t read(Source& source, std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t before = noted_->requests;
    std::vector<std::uint8_t> bytes(length);
    read_fully(source, offset, bytes);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), content_.begin() + static_cast<std::ptrdiff_t>(offset)))
        << length << " at " << offset;
    asked_ += length;
    return noted_->requests - before;
  }
  /// Each value of the object once, in another order each time; returns the requests that were made.
  std::uint64_t read_epoch(Source& source) {
    std::uint64_t requests = 0;
    const std::uint64_t values = content_.size() / kValue, step = 997 + 2 * epoch_++;
    for (std::uint64_t i = 0; i < values; ++i) {
      requests += read(source, i * step % values * kValue, kValue);
      EXPECT_LE(noted_->bytes, (1 + KeptChunks::kUnaskedMax) * asked_);
    }
    return requests;
  }
  /// So that chunks may be fetched as a whole.
  void ask_for_much(Source& source) { read(source, 0, 3 * kChunk); }

  const std::vector<std::uint8_t> content_ = random_bytes(20 * kChunk + 789);
  std::shared_ptr<FaultySource> faulty_;
  std::shared_ptr<NotedSource> noted_;
  std::unique_ptr<KeptChunks> kept_;
  std::uint64_t asked_ = 0, epoch_ = 0;
};

TEST_F(KeptChunksTest, HasAllAfterAPartOfAnEpochAndFetchesNothingTwice) {
  Source& source = keep();
  const std::uint64_t first = read_epoch(source);
  EXPECT_GT(first, 20u);
  EXPECT_LT(first, content_.size() / kValue / 2);
  EXPECT_EQ(read_epoch(source), 0u);
  EXPECT_LT(noted_->bytes, content_.size() + first * kValue);
  EXPECT_EQ(read(source, 0, content_.size()), 0u);
}

TEST_F(KeptChunksTest, KeepsNoMoreThanThereIsRoomFor) {
  Source& source = keep(5 * kChunk);
  read_epoch(source);
  const std::uint64_t fetched = noted_->bytes;
  const std::uint64_t requests = read_epoch(source), values = content_.size() / kValue;
  EXPECT_NEAR(static_cast<double>(requests), 0.75 * static_cast<double>(values), 0.02 * static_cast<double>(values));
  EXPECT_EQ(noted_->bytes - fetched, requests * kValue) << "what is not kept is read as it is asked for";
}

TEST_F(KeptChunksTest, HasRoomForAllObjectsTogether) {
  Source& source = keep(2 * kChunk);
  NotedSource other(std::make_shared<MemorySource>("other", content_));
  Source& kept_other = kept_->in_front_of(other);
  EXPECT_NE(&kept_other, &source);
  EXPECT_EQ(&kept_->in_front_of(other), &kept_other);
  read(source, 0, 2 * kChunk);
  std::vector<std::uint8_t> bytes(kChunk);
  for (int i = 0; i < 2; ++i) read_fully(kept_other, 0, bytes);
  EXPECT_EQ(other.requests, 2u);
  EXPECT_EQ(read(source, kChunk, 10), 0u);
}

TEST_F(KeptChunksTest, FillsPiecesAcrossChunksAndPassesHoles) {
  Source& source = keep();
  ask_for_much(source);
  for (int time = 0; time < 2; ++time) {
    std::vector<std::uint8_t> first(10), last(20);
    const std::array<MutableBytes, 3> pieces = {MutableBytes(first), hole(2 * kChunk), MutableBytes(last)};
    ReadRequest request;
    request.offset = 3 * kChunk - 5;
    request.into = pieces;
    request.done = [](ReadRequest&) noexcept {};
    source.start(request);  // nothing here waits
    ASSERT_FALSE(request.error);
    const auto at = content_.begin() + static_cast<std::ptrdiff_t>(request.offset);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), at));
    EXPECT_TRUE(std::equal(last.begin(), last.end(), at + static_cast<std::ptrdiff_t>(10 + 2 * kChunk)));
    EXPECT_EQ(noted_->requests, 2u);
  }
  EXPECT_EQ(noted_->bytes, 6 * kChunk) << "what it had is not read again";
  EXPECT_EQ(read(source, content_.size() - 1, 1), 1u);
  EXPECT_EQ(read(source, content_.size() - 700, 700), 0u);
}

TEST_F(KeptChunksTest, ForgetsWhatCouldNotBeRead) {
  Source& source = keep(UINT64_MAX, {.fail_reads = {1}});
  ask_for_much(source);
  std::vector<std::uint8_t> bytes(10);
  EXPECT_EQ(error_of([&] { read_fully(source, 5 * kChunk, bytes); }).kind(), ErrorKind::kIo);
  EXPECT_EQ(read(source, 5 * kChunk, 10), 1u);
  EXPECT_EQ(read(source, 6 * kChunk - 10, 10), 0u);
}

TEST_F(KeptChunksTest, WaitsForNoOtherRead) {
  Source& source = keep(UINT64_MAX, {.hold = true});
  std::thread much([&] { ask_for_much(source); });
  faulty_->wait_until_held(1);
  std::thread other([&] { EXPECT_EQ(read(source, kChunk, 10), 1u) << "of a chunk that is on its way"; });
  faulty_->wait_until_held(2);
  faulty_->release(1);
  other.join();
  faulty_->release_all();
  much.join();
  EXPECT_EQ(read(source, kChunk + 10, 10), 0u);
}

TEST_F(KeptChunksTest, LeavesToTheObjectWhatIsNotInIt) {
  Source& source = keep();
  ask_for_much(source);
  std::vector<std::uint8_t> bytes(10);
  for (const std::uint64_t offset : {content_.size() - 5, content_.size() + kChunk, UINT64_MAX - 3}) {
    EXPECT_EQ(error_of([&] { read_fully(source, offset, bytes); }).kind(), ErrorKind::kData);
  }
  EXPECT_EQ(error_of([&] { read_fully(source, 0, bytes, "part"); }).kind(), ErrorKind::kNotFound);
}

TEST_F(KeptChunksTest, IsOfNoUseInFrontOfADisk) {
  keep();
  MemorySource nearby("nearby", content_);
  EXPECT_EQ(&kept_->in_front_of(nearby), &nearby);
}

}  // namespace
}  // namespace stoker
