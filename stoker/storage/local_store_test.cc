#include "stoker/storage/local_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "stoker/base/error_testing.h"
#include "stoker/storage/local_store_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LocalStoreMatch : public ::testing::Test {
 protected:
  std::vector<Location> match(const std::string& pattern) const { return store_.match(folder_.path(pattern)); }
  Error refusal_of(const std::string& pattern) const {
    const OrdinaryRights bound;
    return error_of([&] { match(pattern); });
  }

  const TempFolder folder_;
  const LocalStore store_{FileAccess(std::make_shared<InlineExecutor>())};
};

TEST_F(LocalStoreMatch, FindsFilesInFoldersThatMatch) {
  for (const char* name : {"b/s.tar", "a/s.tar", "a/t.tar", "a/deep/s.tar", ".hidden/s.tar", "c/none", "file"}) {
    folder_.write(name, "");
  }
  fs::create_directory_symlink(folder_.path("a"), folder_.path("link"));
  fs::create_symlink(folder_.path("nowhere"), folder_.path("dangling"));
  EXPECT_THAT(match("*/s.tar"),
              ElementsAre(folder_.path("a/s.tar"), folder_.path("b/s.tar"), folder_.path("link/s.tar")));
  EXPECT_THAT(match("[ab]/*.tar"),
              ElementsAre(folder_.path("a/s.tar"), folder_.path("a/t.tar"), folder_.path("b/s.tar")));
  EXPECT_THAT(match("?/deep/*"), ElementsAre(folder_.path("a/deep/s.tar")));
  EXPECT_THAT(match(".h*//s.*"), ElementsAre(folder_.path(".hidden//s.tar")));
  EXPECT_THAT(match("a*/"), ElementsAre(folder_.path("a/")));
  EXPECT_THAT(match("*/deep/"), ElementsAre(folder_.path("a/deep/"), folder_.path("link/deep/")));
  EXPECT_THAT(match("f*/s.tar"), IsEmpty());
  EXPECT_THAT(match("none/*.tar"), IsEmpty());
  EXPECT_THAT(match("file/*"), IsEmpty());
  EXPECT_THAT(match("d*"), ElementsAre(folder_.path("dangling")));
}

TEST_F(LocalStoreMatch, NamesTheFolderThatCannotBeLookedInto) {
  for (const char* name : {"gl/a/s.tar", "gl/b/s.tar", "gl/c/s.tar"}) folder_.write(name, "");
  fs::permissions(folder_.path("gl/b"), fs::perms::none);
  for (const char* pattern : {"gl/*/s.tar", "gl/*/*.tar", "gl/b/*"}) {
    const Error error = refusal_of(pattern);
    EXPECT_EQ(error.kind(), ErrorKind::kIo) << pattern;
    EXPECT_THAT(error.message(), AllOf(HasSubstr(folder_.path("gl/b")), HasSubstr("Permission denied"))) << pattern;
  }
  fs::permissions(folder_.path("gl/b"), fs::perms::owner_all);
  EXPECT_EQ(match("gl/*/s.tar").size(), 3u);
  fs::permissions(folder_.path("gl"), fs::perms::owner_exec);
  EXPECT_THAT(refusal_of("gl/*/s.tar").message(), AllOf(HasSubstr(folder_.path("gl")), HasSubstr("Permission denied")));
  fs::permissions(folder_.path("gl"), fs::perms::owner_all);
}

}  // namespace
}  // namespace stoker
