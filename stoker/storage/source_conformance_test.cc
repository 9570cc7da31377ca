// What every source must do, whatever lies behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <numeric>

#include "stoker/base/error.h"
#include "stoker/storage/faulty_source.h"
#include "stoker/storage/file_source.h"
#include "stoker/storage/folder_source.h"
#include "stoker/storage/memory_source.h"
#include "stoker/storage/temp_folder_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kSize = 10'000;

struct SourceCase {
  std::string name;
  /// A source of `content`, as its part `part` if it has parts.
  std::function<std::shared_ptr<Source>(const TempFolder&, const std::vector<std::uint8_t>& content,
                                        std::shared_ptr<Executor>)>
      make;
  std::string part;
};

std::shared_ptr<Source> make_file(const TempFolder& folder, const std::vector<std::uint8_t>& content,
                                  std::shared_ptr<Executor> executor) {
  return std::make_shared<FileSource>(folder.write("data.bin", content), std::move(executor));
}

const SourceCase kCases[] = {
    {"File", make_file, ""},
    {"Folder",
     [](const TempFolder& folder, const auto& content, auto executor) {
       folder.write("class/data.bin", content);
       return std::make_shared<FolderSource>(folder.path(), executor);
     },
     "class/data.bin"},
    {"Memory",
     [](const TempFolder&, const auto& content, const auto&) {
       return std::make_shared<MemorySource>("memory", content);
     },
     ""},
    {"FaultyWithoutFaults",
     [](const TempFolder& folder, const auto& content, auto executor) {
       return std::make_shared<FaultySource>(make_file(folder, content, executor), FaultyOptions{});
     },
     ""},
};

class SourceConformance : public ::testing::TestWithParam<std::tuple<SourceCase, int>> {
 protected:
  SourceConformance() {
    std::uint32_t state = 1;
    for (auto& byte : content_) byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
    const auto& [source_case, threads] = GetParam();
    std::shared_ptr<Executor> executor = std::make_shared<InlineExecutor>();
    if (threads > 0) executor = std::make_shared<ThreadExecutor>(threads);
    source_ = source_case.make(folder_, content_, executor);
    part_ = source_case.part;
  }

  std::vector<std::uint8_t> read(std::uint64_t offset, std::size_t length) {
    std::vector<std::uint8_t> bytes(length);
    read_fully(*source_, offset, bytes, part_);
    return bytes;
  }

  std::vector<std::uint8_t> expected(std::size_t offset, std::size_t length) const {
    const auto begin = content_.begin() + static_cast<std::ptrdiff_t>(offset);
    return {begin, begin + static_cast<std::ptrdiff_t>(length)};
  }

  ErrorKind kind_of_failure(std::uint64_t offset, std::size_t length, std::string_view part) {
    std::vector<std::uint8_t> bytes(length);
    try {
      read_fully(*source_, offset, bytes, part);
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), HasSubstr(source_->name()));
      return error.kind();
    }
    ADD_FAILURE() << "the read did not fail";
    return ErrorKind::kClosed;
  }

  TempFolder folder_;
  std::vector<std::uint8_t> content_ = std::vector<std::uint8_t>(kSize);
  std::shared_ptr<Source> source_;
  std::string part_;
};

TEST_P(SourceConformance, KnowsItsSize) { EXPECT_EQ(source_->size(part_), kSize); }

TEST_P(SourceConformance, ReadsAnyRange) {
  EXPECT_EQ(read(0, kSize), content_);
  EXPECT_EQ(read(0, 1), expected(0, 1));
  EXPECT_EQ(read(4095, 2), expected(4095, 2));
  EXPECT_EQ(read(kSize - 1, 1), expected(kSize - 1, 1));
}

TEST_P(SourceConformance, ReadsNothingAnywhereInsideAndAtTheEnd) {
  EXPECT_TRUE(read(0, 0).empty());
  EXPECT_TRUE(read(kSize, 0).empty());
}

TEST_P(SourceConformance, RefusesRangesPastTheEnd) {
  EXPECT_EQ(kind_of_failure(0, kSize + 1, part_), ErrorKind::kData);
  EXPECT_EQ(kind_of_failure(kSize - 1, 2, part_), ErrorKind::kData);
  EXPECT_EQ(kind_of_failure(kSize, 1, part_), ErrorKind::kData);
  EXPECT_EQ(kind_of_failure(kSize + 1, 0, part_), ErrorKind::kData);
  EXPECT_EQ(kind_of_failure(~std::uint64_t{0}, 1, part_), ErrorKind::kData);
  EXPECT_EQ(kind_of_failure(~std::uint64_t{0} - 4, 10, part_), ErrorKind::kData);
}

TEST_P(SourceConformance, SaysHowLongTheObjectIs) {
  std::vector<std::uint8_t> bytes(kSize + 1);
  try {
    read_fully(*source_, 0, bytes, part_);
    FAIL() << "the read did not fail";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("10000 bytes"));
  }
}

TEST_P(SourceConformance, RefusesAPartThatIsNotThere) {
  EXPECT_EQ(kind_of_failure(0, 1, "no/such/part"), ErrorKind::kNotFound);
  EXPECT_THROW(source_->size("no/such/part"), Error);
}

TEST_P(SourceConformance, ServesManyReadsAtOnceAndCallsDoneOncePerRead) {
  constexpr int kReads = 300;
  struct Slot {
    std::vector<std::uint8_t> bytes;
    MutableBytes segment;
    std::atomic<int> done_calls = 0;
    std::latch* all = nullptr;
  };
  std::latch all(kReads);
  std::vector<Slot> slots(kReads);
  std::vector<ReadRequest> requests(kReads);
  for (std::size_t i = 0; i < kReads; ++i) {
    slots[i].bytes.resize(i * 7 % 500);
    slots[i].all = &all;
    requests[i].part = part_;
    requests[i].offset = i * 31;
    slots[i].segment = slots[i].bytes;
    requests[i].into = Segments(&slots[i].segment, 1);
    requests[i].context = &slots[i];
    requests[i].done = [](ReadRequest& request) noexcept {
      auto& slot = *static_cast<Slot*>(request.context);
      if (slot.done_calls.fetch_add(1) == 0) slot.all->count_down();
    };
    if (i % 10 == 3) requests[i].offset = kSize + 1;  // failures among them
  }
  for (ReadRequest& request : requests) source_->start(request);
  all.wait();
  source_.reset();  // joins its executor's threads, which may still be leaving count_down()
  for (std::size_t i = 0; i < kReads; ++i) {
    EXPECT_EQ(slots[i].done_calls, 1);
    if (i % 10 == 3) {
      EXPECT_TRUE(requests[i].error);
    } else {
      ASSERT_FALSE(requests[i].error);
      EXPECT_EQ(slots[i].bytes, expected(i * 31, i * 7 % 500)) << "read " << i;
    }
  }
}

TEST_P(SourceConformance, TakesARequestAgainAfterItFailed) {
  std::vector<std::uint8_t> bytes(1);
  const MutableBytes segment(bytes);
  std::latch failed(1), succeeded(1);
  ReadRequest request;
  request.part = part_;
  request.offset = kSize;
  request.into = Segments(&segment, 1);
  request.done = [](ReadRequest& finished) noexcept { static_cast<std::latch*>(finished.context)->count_down(); };
  request.context = &failed;
  source_->start(request);
  failed.wait();
  ASSERT_TRUE(request.error);
  request.offset = 0;
  request.context = &succeeded;
  source_->start(request);
  succeeded.wait();
  source_.reset();  // joins its executor's threads, which may still be leaving count_down()
  EXPECT_FALSE(request.error);
  EXPECT_EQ(bytes[0], content_[0]);
}

INSTANTIATE_TEST_SUITE_P(All, SourceConformance,
                         ::testing::Combine(::testing::ValuesIn(kCases), ::testing::Values(0, 1, 4)),
                         [](const auto& instance) {
                           const int threads = std::get<1>(instance.param);
                           return std::get<0>(instance.param).name +
                                  (threads == 0 ? "Inline" : std::to_string(threads) + "Threads");
                         });

}  // namespace
}  // namespace stoker
