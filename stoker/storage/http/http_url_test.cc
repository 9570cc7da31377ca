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
  for (const char* url : {"https://h/a.tar", "https://h/a.tar?versionId=7", "https://h/a.tar?design=x&sign=1", "h?",
                          "https://h/a?se=1&expires=2"}) {
    EXPECT_EQ(without_signature(url), url);
  }
}

TEST(HttpUrl, KeepsWhatNamesTheObjectBesideASignature) {
  EXPECT_EQ(without_signature("http://h/get?file=shard-000001.tar&sig=aaaa"), "http://h/get?file=shard-000001.tar");
  EXPECT_EQ(without_signature("https://h/a.tar?X-Amz-Algorithm=A&X-Amz-Credential=k%2F1&versionId=7&x-id=GetObject&"
                              "X-Amz-Security-Token=t&X-Amz-Signature=ab"),
            "https://h/a.tar?versionId=7&x-id=GetObject");
  EXPECT_EQ(without_signature("https://h/a.tar?generation=3&GoogleAccessId=me&Expires=1&Signature=a"),
            "https://h/a.tar?generation=3");
  EXPECT_EQ(without_signature("https://h/a.tar?AWSAccessKeyId=k&Policy=p&Key-Pair-Id=K&Signature=a&part"),
            "https://h/a.tar?part");
  EXPECT_EQ(without_signature("https://h/c/a.tar?snapshot=2026&sv=1&ss=b&srt=o&sp=r&st=1&se=2&spr=https&sip=1&sr=b&"
                              "skoid=1&sktid=2&skt=3&ske=4&sks=b&skv=5&sig=a%2F"),
            "https://h/c/a.tar?snapshot=2026");
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
