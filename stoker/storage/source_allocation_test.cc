// What the read path allocates: nothing.
#include <gtest/gtest.h>

#include <atomic>

#include "stoker/base/allocations_testing.h"
#include "stoker/storage/arranged_source.h"
#include "stoker/storage/faulty_source_testing.h"
#include "stoker/storage/file_access_testing.h"
#include "stoker/storage/folder_source.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

constexpr char kPart[] = "a_class_with_a_long_name/a_sample_with_a_long_name_too.jpg";

/// Of a hundred reads, unaligned and with a hole.
std::int64_t allocations_of_reads(Source& source, std::string_view part) {
  std::uint8_t a[64], b[64];
  const MutableBytes into[] = {a, hole(30), b};
  ReadRequest request;
  request.part = part;
  request.into = into;
  request.done = [](ReadRequest& ended) noexcept {
    auto& flag = *static_cast<std::atomic<bool>*>(ended.context);
    flag = true;
    flag.notify_one();
  };
  static std::atomic<bool> flag;  // the thread that sets it may still be about to wake us
  request.context = &flag;
  std::int64_t before = 0;
  for (int i = 0; i <= 100; ++i) {
    if (i == 1) before = allocations_so_far();
    request.offset = static_cast<std::uint64_t>(i);
    flag = false;
    source.start(request);
    flag.wait(false);
    EXPECT_FALSE(request.error);
  }
  return allocations_so_far() - before;
}

TEST(SourceAllocation, ReadsAllocateNothing) {
  TempFolder folder;
  const auto executor = std::make_shared<InlineExecutor>();
  const auto file = std::make_shared<FileSource>(folder.write(kPart, std::string(1000, 'x')), executor);
  FolderSource in_folder(folder.path(), executor);
  MemorySource memory("memory", std::vector<std::uint8_t>(1000));
  FaultySource faulty(file, {});
  EXPECT_EQ(allocations_of_reads(in_folder, kPart), 0);
  EXPECT_EQ(allocations_of_reads(memory, ""), 0);
  EXPECT_EQ(allocations_of_reads(faulty, ""), 0);
  const auto order = std::make_shared<StretchOrder>();
  for (std::uint64_t i = 0; i < 20; ++i) order->add(900 - 40 * i, 10 + i);  // the first read has the most parts
  ArrangedSource arranged(file, order);
  EXPECT_EQ(allocations_of_reads(arranged, ""), 0);
}

class FileAllocation : public ::testing::TestWithParam<FileWay> {};

TEST_P(FileAllocation, ReadsOfFilesThatStayOpenAllocateNothing) {
  if (const std::string why = why_not(GetParam()); !why.empty()) GTEST_SKIP() << why;
  TempFolder folder;
  const FileAccess access = access_by(GetParam(), std::make_shared<InlineExecutor>());
  FileSource file(folder.write("f", std::string(1000, 'x')), access, {.direct = GetParam().direct});
  EXPECT_EQ(allocations_of_reads(file, ""), 0);
}

INSTANTIATE_TEST_SUITE_P(All, FileAllocation, ::testing::ValuesIn(kFileWays),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace stoker
