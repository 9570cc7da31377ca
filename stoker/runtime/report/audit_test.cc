#include "stoker/runtime/report/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "stoker/base/error_testing.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

TEST(Audit, HasOneWriter) {
  const TempFolder folder;
  const std::string path = folder.path() + "/audit";
  std::optional<AuditWriter> writer(std::in_place, path);
  const Error error = error_of([&] { AuditWriter other(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_THAT(error.what(), HasSubstr("audit' is being written by another loader or process"));
  writer.reset();
  AuditWriter other(path);
}

TEST(Audit, IsNotEmptiedByOneThatIsRefused) {
  const MemoryDataset data = memory_dataset();
  const TempFolder folder;
  const LoaderOptions options{.batch = 10, .threads = 1, .audit = folder.path() + "/audit"};
  Loader loader(data.dataset, small_recipe(), options);
  audit_of(loader, 1);
  const auto size = std::filesystem::file_size(options.audit);
  EXPECT_GT(size, 0u);
  EXPECT_EQ(error_of([&] { Loader(data.dataset, small_recipe(), options); }).kind(), ErrorKind::kIo);
  EXPECT_EQ(std::filesystem::file_size(options.audit), size);
  loader.close();
  Loader(data.dataset, small_recipe(), options);
}

TEST(Audit, IsKeptUntilAnEpochBegins) {
  const MemoryDataset data = memory_dataset();
  const TempFolder folder;
  const LoaderOptions options{.batch = 10, .threads = 1, .audit = folder.path() + "/audit"};
  { Loader(data.dataset, small_recipe(), options).start_epoch(0); }
  EXPECT_EQ(std::filesystem::file_size(options.audit), 0u);
  folder.write("audit", "of another run\n");
  Loader loader(data.dataset, small_recipe(), options);
  EXPECT_EQ(error_of([&] { loader.load_state("{}"); }).kind(), ErrorKind::kUsage);
  EXPECT_GT(std::filesystem::file_size(options.audit), 0u);
  loader.load_state(loader.state());
  EXPECT_EQ(std::filesystem::file_size(options.audit), 0u) << "nothing may be left to do";
}

TEST(Audit, HasNothingOfAnotherRunThatWasLonger) {
  const MemoryDataset data = memory_dataset();
  const TempFolder folder;
  const std::string path = folder.write("audit", std::string(1'000'000, '-'));
  AuditWriter writer(path);
  Loader loader(data.dataset, small_recipe(), {.batch = 10, .threads = 1});
  const BatchPtr batch = loader.next();
  writer.write(*batch);
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10) << text;
  EXPECT_THAT(text, testing::Not(HasSubstr("---")));
}

TEST(Audit, MayGoToADeviceThatOthersWriteTo) { AuditWriter writer("/dev/null"), other("/dev/null"); }

}  // namespace
}  // namespace stoker
