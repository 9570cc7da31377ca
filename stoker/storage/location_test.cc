#include "stoker/storage/location.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(Location, IsAPathUnlessItBeginsWithAScheme) {
  for (const char* path : {"a.tar", "/data/a.tar", "", "://a", "S3://a", "3s://a", "a b://c", "folder/s3://a"}) {
    EXPECT_TRUE(Location(path).is_local()) << path;
  }
  EXPECT_EQ(Location("s3://bucket/a.tar").scheme(), "s3");
  EXPECT_EQ(Location("git+ssh://host/a").scheme(), "git+ssh");
  EXPECT_EQ(fmt::format("'{}'", Location("s3://bucket/a.tar")), "'s3://bucket/a.tar'");
}

TEST(Location, HasANameAndAFolder) {
  EXPECT_EQ(Location("/data/a.tar").name(), "a.tar");
  EXPECT_EQ(Location("/data/a.tar").parent(), "/data");
  EXPECT_EQ(Location("a.tar").parent(), "");
  EXPECT_EQ(Location("s3://bucket/train/a.tar").name(), "a.tar");
  EXPECT_EQ(Location("s3://bucket/train/a.tar").parent(), "s3://bucket/train");
  EXPECT_EQ(Location("s3://bucket/a.tar").parent(), "s3://bucket");
}

TEST(Location, NamesWhatLiesInIt) {
  EXPECT_EQ(Location("data") / "a.tar", "data/a.tar");
  EXPECT_EQ(Location("data/") / "a.tar", "data/a.tar");
  EXPECT_EQ(Location("") / "a.tar", "a.tar");
  EXPECT_EQ(Location("s3://bucket") / "a.tar", "s3://bucket/a.tar");
  EXPECT_EQ(Location("s3://bucket/train/") / "a.tar", "s3://bucket/train/a.tar");
  EXPECT_EQ(Location("s3://bucket/a.tar") + ".sidx", "s3://bucket/a.tar.sidx");
}

TEST(Location, HasAQueryThatIsNoPartOfItsPath) {
  const Location signed_one("https://user:secret@host/train/a.tar?sig=x/y");
  EXPECT_EQ(signed_one.name(), "a.tar");
  EXPECT_EQ(signed_one.parent().text(), "https://user:secret@host/train");
  EXPECT_EQ((signed_one / "b").text(), "https://user:secret@host/train/a.tar/b");
  EXPECT_EQ((signed_one + ".sidx").text(), "https://user:secret@host/train/a.tar.sidx?sig=x/y");
  EXPECT_EQ(fmt::format("'{}'", signed_one), "'https://host/train/a.tar?...'");
  EXPECT_EQ(Location("s3://bucket/a?b/c").name(), "c");
}

TEST(Location, LetsWhatStandsForItselfStandForItself) {
  EXPECT_EQ(Location("data") / "/other/a.tar", "/other/a.tar");
  EXPECT_EQ(Location("data") / "s3://bucket/a.tar", "s3://bucket/a.tar");
  EXPECT_EQ(Location("s3://bucket") / "/other/a.tar", "/other/a.tar");
}

TEST(Location, StaysRightWhereTheWorkingDirectoryDoesNot) {
  EXPECT_TRUE(Location("a.tar").absolute().text().starts_with('/'));
  EXPECT_EQ(Location("s3://bucket/a.tar").absolute(), "s3://bucket/a.tar");
}

}  // namespace
}  // namespace stoker
