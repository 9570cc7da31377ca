#include "stoker/runtime/report/output_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "stoker/base/error_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(OutputPaths, MustDiffer) {
  check_outputs_differ({{"audit", "a"}, {"trace", "b"}, {"list", ""}, {"report", ""}});
  const Error error = error_of([] { check_outputs_differ({{"audit", "a"}, {"list", ""}, {"trace", "x/../a"}}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("audit and trace are the same file, 'x/../a'"));
}

TEST(OutputPaths, AreFollowedThroughLinks) {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path() + "/real");
  std::filesystem::create_directory_symlink("real", folder.path() + "/link");
  const Error error = error_of([&] {
    check_outputs_differ({{"audit", folder.path() + "/real/a"}, {"trace", folder.path() + "/link/a"}});
  });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
}

TEST(OutputPaths, AreNoUrls) {
  const Error error = error_of([] { check_outputs_differ({{"--audit", "s3://bucket/audit"}}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("--audit"), HasSubstr("s3://bucket/audit"), HasSubstr("a path")));
}

TEST(OutputPaths, AreNotInAFolderThatIsNamedLikeAShellsHome) {
  for (const char* path : {"~", "~/audit"}) {
    const Error error = error_of([&] { check_outputs_differ({{"audit", path}}); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("audit is '~"), HasSubstr("os.path.expanduser")));
  }
  check_outputs_differ({{"audit", "folder/~/audit"}, {"trace", "~audit"}});
}

TEST(OutputPaths, MayBeOneDevice) { check_outputs_differ({{"audit", "/dev/null"}, {"trace", "/dev/null"}}); }

}  // namespace
}  // namespace stoker
