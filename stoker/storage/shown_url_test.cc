#include "stoker/storage/shown_url.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(ShownUrl, LeavesOutWhatGivesAccess) {
  EXPECT_EQ(shown_url("https://host:8080/a/b.tar"), "https://host:8080/a/b.tar");
  EXPECT_EQ(shown_url("https://user:secret@host/a.tar"), "https://host/a.tar");
  EXPECT_EQ(shown_url("https://user:p@ss@host/a@b.tar"), "https://host/a@b.tar");
  EXPECT_EQ(shown_url("https://host/a.tar?X-Amz-Signature=secret"), "https://host/a.tar?...");
  EXPECT_EQ(shown_url("https://host?token=secret@x/y"), "https://host?...");
  EXPECT_EQ(shown_url("http://host/a.tar#secret"), "http://host/a.tar?...");
  EXPECT_EQ(shown_url("https://user:secret@host?q"), "https://host?...");
  EXPECT_EQ(shown_url("http://secret@"), "http://");
}

TEST(ShownUrl, LeavesPathsAndKeysAsTheyAre) {
  EXPECT_EQ(shown_url("data/what?.tar"), "data/what?.tar");
  EXPECT_EQ(shown_url("odd/name://x@y?z"), "odd/name://x@y?z");
  EXPECT_EQ(shown_url("s3://bucket/key?with#marks"), "s3://bucket/key?with#marks");
  EXPECT_EQ(shown_url("s3://key:secret@bucket/a"), "s3://bucket/a");
  EXPECT_EQ(shown_url(""), "");
}

TEST(ShownUrl, StaysOneLine) { EXPECT_EQ(shown_url("http://host/a\nb"), "http://host/a\\nb"); }

TEST(EndOfPath, IsWhereTheQueryBegins) {
  EXPECT_EQ(end_of_path("http://host/a?b"), 13u);
  EXPECT_EQ(end_of_path("http://host/a#b?c"), 13u);
  EXPECT_EQ(end_of_path("http://host/a"), 13u);
  EXPECT_EQ(end_of_path("s3://b/a?b"), 10u);
}

}  // namespace
}  // namespace stoker
