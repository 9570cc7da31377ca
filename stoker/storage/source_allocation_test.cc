// What the read path allocates: nothing.
#include <gtest/gtest.h>

#include "stoker/base/allocations_testing.h"
#include "stoker/storage/faulty_source.h"
#include "stoker/storage/file_source.h"
#include "stoker/storage/folder_source.h"
#include "stoker/storage/memory_source.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

std::int64_t allocations_of_reads(Source& source, std::string_view part) {
  std::uint8_t bytes[64];
  read_fully(source, 0, bytes, part);
  const std::int64_t before = allocations_so_far();
  for (int i = 0; i < 100; ++i) read_fully(source, 10, bytes, part);
  return allocations_so_far() - before;
}

TEST(SourceAllocation, ReadsAllocateNothing) {
  TempFolder folder;
  const std::string content(1000, 'x');
  const std::string part = "a_class_with_a_long_name/a_sample_with_a_long_name_too.jpg";
  const std::string path = folder.write(part, content);
  const auto executor = std::make_shared<InlineExecutor>();
  const auto file = std::make_shared<FileSource>(path, executor);
  FolderSource in_folder(folder.path(), executor);
  MemorySource memory("memory", std::vector<std::uint8_t>(1000));
  FaultySource faulty(file, {});
  EXPECT_EQ(allocations_of_reads(*file, ""), 0);
  EXPECT_EQ(allocations_of_reads(in_folder, part), 0);
  EXPECT_EQ(allocations_of_reads(memory, ""), 0);
  EXPECT_EQ(allocations_of_reads(faulty, ""), 0);
}

}  // namespace
}  // namespace stoker
