#include "stoker/storage/http/http_url.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(HttpUrl, HasAnOrigin) {
  EXPECT_EQ(origin_of("https://Host/a"), "https://host:443");
  EXPECT_EQ(origin_of("HTTP://user:p@host:8080?x"), "http://host:8080");
  EXPECT_EQ(origin_of("http://host:/a"), "http://host:80");
  EXPECT_EQ(origin_of("http://[::1]/a:5"), "http://[::1]:80");
  EXPECT_EQ(origin_of("http://[::1]:81"), "http://[::1]:81");
}

TEST(HttpUrl, KeepsItsLoginToItsOrigin) {
  constexpr const char* kAsked = "https://user:secret@host/a.tar";
  EXPECT_EQ(login_of(kAsked), "user:secret");
  EXPECT_EQ(redirect_target(kAsked, "https://host/b.tar?x"), "https://user:secret@host/b.tar?x");
  EXPECT_EQ(redirect_target(kAsked, "https://HOST:443/b.tar"), "https://user:secret@HOST:443/b.tar");
  EXPECT_EQ(redirect_target(kAsked, "https://host:444/b.tar"), "https://host:444/b.tar");
  EXPECT_EQ(redirect_target(kAsked, "https://other/b.tar"), "https://other/b.tar");
  EXPECT_EQ(redirect_target(kAsked, "https://user:secret@other/b.tar"), "https://other/b.tar");
  EXPECT_EQ(redirect_target("https://host/a", "https://their:own@host/b"), "https://host/b");
  EXPECT_EQ(redirect_target(kAsked, "http://host/b.tar"), "http://host/b.tar") << "another origin";
}

TEST(HttpUrl, IsThatOfTheObjectWithoutItsSignature) {
  for (const std::string query :
       {"X-Amz-Date=1&X-Amz-Signature=ab", "x-goog-signature=1", "Expires=1&Signature=a", "sv=1&sig=a%2F"}) {
    EXPECT_EQ(without_signature("https://h/a.tar?" + query), "https://h/a.tar") << query;
  }
  for (const char* url : {"https://h/a.tar", "https://h/a.tar?versionId=7", "https://h/a.tar?design=x&sign=1", "h?"}) {
    EXPECT_EQ(without_signature(url), url);
  }
}

TEST(HttpUrl, StaysEncrypted) {
  EXPECT_TRUE(may_redirect("http://a", "https://b"));
  EXPECT_TRUE(may_redirect("http://a", "HTTP://b"));
  EXPECT_TRUE(may_redirect("https://a", "https://b"));
  EXPECT_FALSE(may_redirect("https://a", "http://a"));
  EXPECT_FALSE(may_redirect("http://a", "file:///etc/passwd"));
  EXPECT_FALSE(may_redirect("http://a", "ftp://a"));
  EXPECT_FALSE(may_redirect("http://a", ""));
}

}  // namespace
}  // namespace stoker
