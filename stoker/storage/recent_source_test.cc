#include "stoker/storage/recent_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

std::vector<std::uint8_t> ascending_bytes(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i + i / 251);
  return bytes;
}

/// Counts the bytes that are read of an object.
class CountedSource final : public Source {
 public:
  explicit CountedSource(std::vector<std::uint8_t> content) : object_("object", std::move(content)) {}

  const std::string& name() const override { return object_.name(); }
  std::uint64_t size(std::string_view part) const override { return object_.size(part); }
  void start(ReadRequest& request) override {
    bytes += request.length();
    object_.start(request);
  }

  std::atomic<std::uint64_t> bytes = 0;

 private:
  MemorySource object_;
};

class RecentSourceTest : public ::testing::Test {
 protected:
  void expect_read(std::uint64_t offset, std::size_t count, std::uint64_t read_of_object) {
    const std::uint64_t before = object_->bytes;
    std::vector<std::uint8_t> read(count);
    read_fully(source_, offset, read);
    EXPECT_TRUE(std::equal(read.begin(), read.end(), content_.begin() + static_cast<std::ptrdiff_t>(offset)));
    EXPECT_EQ(object_->bytes - before, read_of_object) << count << " at " << offset;
  }

  const std::vector<std::uint8_t> content_ = ascending_bytes(1000);
  const std::shared_ptr<CountedSource> object_ = std::make_shared<CountedSource>(content_);
  RecentSource source_{object_, 300};
};

TEST_F(RecentSourceTest, DoesNotTakeAReadWithinAnotherForWhatFollowsIt) {
  expect_read(60, 40, 40);
  expect_read(10, 110, 110);
  expect_read(100, 40, 40);
  expect_read(15, 100, 0);
}

TEST_F(RecentSourceTest, GivesWhatWasReadFirstWithoutReadingItAgain) {
  for (const std::uint64_t begin : {0U, 100U, 200U}) expect_read(begin, 100, 100);
  expect_read(0, 300, 0);
  expect_read(150, 149, 0);
  expect_read(99, 2, 0);
  expect_read(40, 0, 0);
  expect_read(300, 100, 100);
  expect_read(50, 100, 100);  // the first hundred had to go
  expect_read(50, 100, 100);  // what is read again is not kept
  expect_read(100, 300, 0);
}

TEST_F(RecentSourceTest, DoesNotMakeUpWhatLiesBetweenReads) {
  expect_read(0, 100, 100);
  expect_read(150, 50, 50);
  expect_read(90, 70, 70);
  expect_read(150, 50, 0);
  expect_read(400, 301, 301);  // more than is ever kept
  expect_read(400, 10, 10);
}

TEST_F(RecentSourceTest, FillsPiecesAndLeavesHolesOut) {
  expect_read(0, 100, 100);
  std::vector<std::uint8_t> a(10), b(20);
  const std::array<MutableBytes, 3> pieces = {MutableBytes(a), hole(30), MutableBytes(b)};
  ReadRequest request;
  bool is_done = false;
  request.offset = 5;
  request.into = pieces;
  request.context = &is_done;
  request.done = [](ReadRequest& ended) noexcept { *static_cast<bool*>(ended.context) = true; };
  source_.start(request);
  ASSERT_TRUE(is_done);
  EXPECT_FALSE(request.error);
  EXPECT_TRUE(std::equal(a.begin(), a.end(), content_.begin() + 5));
  EXPECT_TRUE(std::equal(b.begin(), b.end(), content_.begin() + 45));
  EXPECT_EQ(object_->bytes, 100u);
}

TEST_F(RecentSourceTest, PassesErrorsOn) {
  std::vector<std::uint8_t> read(2);
  const Error error = error_of([&] { read_fully(source_, 999, read); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), HasSubstr("'object'"));
}

TEST_F(RecentSourceTest, IsReadBySeveralThreads) {
  std::vector<std::thread> readers;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      std::array<std::uint8_t, 50> read;
      for (std::uint64_t begin = 0; begin + read.size() <= content_.size(); begin += 10) {
        read_fully(source_, begin, read);
        if (!std::equal(read.begin(), read.end(), content_.begin() + static_cast<std::ptrdiff_t>(begin))) ++wrong;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace stoker
