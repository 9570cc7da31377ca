#include "stoker/format/open/path_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "stoker/base/error_testing.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/local_store_testing.h"
#include "stoker/storage/memory_store_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(PathPattern, ExpandsBraces) {
  EXPECT_THAT(expand_braces("t-{008..011}.tar"), ElementsAre("t-008.tar", "t-009.tar", "t-010.tar", "t-011.tar"));
  EXPECT_THAT(expand_braces("{8..11}"), ElementsAre("8", "9", "10", "11"));
  EXPECT_THAT(expand_braces("{0..1}"), ElementsAre("0", "1"));
  EXPECT_THAT(expand_braces("{5..5}"), ElementsAre("5"));
  EXPECT_THAT(expand_braces("{a,b}/{1..2}.tar"), ElementsAre("a/1.tar", "a/2.tar", "b/1.tar", "b/2.tar"));
  EXPECT_THAT(expand_braces("{x,y{1..2}}z"), ElementsAre("xz", "y1z", "y2z"));
  EXPECT_THAT(expand_braces("a{,b}"), ElementsAre("a", "ab"));
}

TEST(PathPattern, LeavesBracesThatStandForNothing) {
  for (const char* text : {"plain", "{}", "{a}", "{a", "a}", "{a..b}", "{1..}", "{..2}", "{-1..2}", ""}) {
    EXPECT_THAT(expand_braces(text), ElementsAre(text));
  }
  EXPECT_THAT(expand_braces("{a}{1..2}"), ElementsAre("{a}1", "{a}2"));
  EXPECT_THAT(expand_braces("{a{1..2}}"), ElementsAre("{a1}", "{a2}"));
}

TEST(PathPattern, RefusesRangesThatAreBackwardsOrEndless) {
  EXPECT_EQ(error_of([] { expand_braces("{2..1}"); }).kind(), ErrorKind::kUsage);
  EXPECT_EQ(error_of([] { expand_braces("{0..99999999999}"); }).kind(), ErrorKind::kLimit);
  EXPECT_EQ(error_of([] { expand_braces("{0..18446744073709551615}"); }).kind(), ErrorKind::kLimit);
  EXPECT_EQ(error_of([] { expand_braces("{0..9999}{0..9999}"); }).kind(), ErrorKind::kLimit);
}

TEST(PathPattern, ExpandsGlobsInByteOrder) {
  TempFolder folder;
  for (const char* name : {"b.tar", "B.tar", "a.tar", "a.txt"}) folder.write(name, "");
  EXPECT_THAT(expand_pattern(folder.path("*.tar"), {}),
              ElementsAre(folder.path("B.tar"), folder.path("a.tar"), folder.path("b.tar")));
  EXPECT_THAT(expand_pattern(folder.path("{b,a}.t??"), {}),
              ElementsAre(folder.path("b.tar"), folder.path("a.tar"), folder.path("a.txt")));
  EXPECT_THAT(expand_pattern(folder.path("[a-b].tar"), {}), ElementsAre(folder.path("a.tar"), folder.path("b.tar")));
}

TEST(PathPattern, TakesWhatExistsLiterally) {
  TempFolder folder;
  for (const char* name : {"x[1].tar", "x1.tar", "{0..1}.tar", "0.tar", "1.tar"}) folder.write(name, "");
  EXPECT_THAT(expand_pattern(folder.path("x[1].tar"), {}), ElementsAre(folder.path("x[1].tar")));
  EXPECT_THAT(expand_pattern(folder.path("{0..1}.tar"), {}), ElementsAre(folder.path("{0..1}.tar")));
}

TEST(PathPattern, NamesWhatIsNotThere) {
  TempFolder folder;
  folder.write("0.tar", "");
  const Error missing = error_of([&] { expand_pattern(folder.path("{0..1}.tar"), {}); });
  EXPECT_EQ(missing.kind(), ErrorKind::kNotFound);
  EXPECT_THAT(missing.message(), HasSubstr(folder.path("1.tar")));
  const Error unmatched = error_of([&] { expand_pattern(folder.path("*.rec"), {}); });
  EXPECT_EQ(unmatched.kind(), ErrorKind::kNotFound);
  EXPECT_THAT(unmatched.message(), HasSubstr(folder.path("*.rec")));
}

TEST(PathPattern, SaysThatAPathMayNotBeLookedAt) {
  TempFolder folder;
  folder.write("closed/a.tar", "");
  fs::permissions(folder.path("closed"), fs::perms::none);
  for (const char* pattern : {"closed/a.tar", "closed/{a,b}.tar", "closed/*.tar"}) {
    const OrdinaryRights bound;
    const Error error = error_of([&] { expand_pattern(folder.path(pattern), {}); });
    EXPECT_EQ(error.kind(), ErrorKind::kIo) << pattern;
    EXPECT_THAT(error.message(), AllOf(HasSubstr(folder.path("closed")), HasSubstr("Permission denied"))) << pattern;
  }
  fs::permissions(folder.path("closed"), fs::perms::owner_all);
}

TEST(PathPattern, RefusesAPatternOfAnyDepth) {
  TempFolder folder;
  for (const char* name : {"a.tar", "b/a.tar", "b/c/a.tar", "**x/a.tar"}) folder.write(name, "");
  const Stores stores = Stores().add(std::make_shared<MemoryStore>());
  for (const std::string& pattern : {folder.path("**/*.tar"), folder.path("**"), folder.path("b/{*,**}/a.tar"),
                                     std::string("mem://data/**/a.tar")}) {
    const Error error = error_of([&] { expand_pattern(pattern, stores); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << pattern;
    EXPECT_THAT(error.message(), AllOf(HasSubstr("'**'"), HasSubstr("'*/*.tar'"))) << pattern;
  }
  EXPECT_THAT(expand_pattern(folder.path("b**/a.tar"), {}), ElementsAre(folder.path("b/a.tar")));
  EXPECT_THAT(expand_pattern(folder.path("**x/a.tar"), {}), ElementsAre(folder.path("**x/a.tar")));
}

TEST(PathPattern, SaysThatATildeIsTheShells) {
  for (const char* path : {"~", "~/data"}) {
    EXPECT_THAT(error_of([&] { expand_pattern(path, Stores()); }).message(), HasSubstr("os.path.expanduser")) << path;
  }
}

TEST(PathPattern, SaysWhichUrlWasPerhapsMeant) {
  for (const char* path : {"S3://bucket/a", "s3:/bucket/a"}) {
    const std::string message = error_of([&] { expand_pattern(path, Stores()); }).message();
    EXPECT_THAT(message, HasSubstr("is it the URL 's3://bucket/a'?")) << path;
  }
  EXPECT_THAT(error_of([] { expand_pattern("c:/a", Stores()); }).message(), Not(HasSubstr("URL")));
}

}  // namespace
}  // namespace stoker
