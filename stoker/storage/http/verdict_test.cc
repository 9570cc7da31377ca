#include "stoker/storage/http/verdict.h"

#include <curl/curl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Kind = Verdict::Kind;

const ObjectVersion kVersion{.size = 1000, .tag = "\"a\"", .last_modified = "Tue, 14 Nov 2023 22:13:20 GMT"};

ResponseHead partial() {
  return {.status = 206,
          .content_length = 100,
          .content_range = ContentRange{ContentRange::Range{50, 149}, 1000},
          .tag = kVersion.tag,
          .last_modified = kVersion.last_modified};
}

Verdict on(const ResponseHead& head) { return verdict_on_range(head, 50, 100, &kVersion); }

TEST(Verdict, TakesTheRangeThatWasAskedFor) {
  EXPECT_EQ(on(partial()).kind, Kind::kGood);
  ResponseHead bare = partial();
  bare.content_length.reset();
  bare.content_range->object_bytes.reset();
  bare.tag.clear();
  bare.last_modified.clear();
  EXPECT_EQ(on(bare).kind, Kind::kGood) << "which says no more than it must";
}

TEST(Verdict, AsksAgainAfterAnotherRangeOrLength) {
  ResponseHead shifted = partial();
  shifted.content_range->range = ContentRange::Range{51, 150};
  EXPECT_EQ(on(shifted).kind, Kind::kAgain);
  ResponseHead shorter = partial();
  shorter.content_range->range->last = 148;
  EXPECT_EQ(on(shorter).kind, Kind::kAgain);
  ResponseHead announced = partial();
  announced.content_length = 99;
  EXPECT_EQ(on(announced).kind, Kind::kAgain);
  ResponseHead silent = partial();
  silent.content_range.reset();
  EXPECT_EQ(on(silent).kind, Kind::kAgain);
}

TEST(Verdict, NoticesThatTheObjectWasReplaced) {
  std::vector<ResponseHead> heads(5, partial());
  heads[0].tag = "\"b\"";
  heads[1].tag.clear();
  heads[1].last_modified = "Tue, 14 Nov 2023 22:13:21 GMT";
  heads[2].content_range->object_bytes = 1001;
  heads[3] = {.status = 412};
  heads[4] = {.status = 416};
  for (const ResponseHead& head : heads) {
    EXPECT_EQ(on(head).kind, Kind::kFinal);
    EXPECT_EQ(on(head).error, ErrorKind::kData);
    EXPECT_THAT(on(head).why, HasSubstr("replaced"));
  }
  ResponseHead touched = partial();
  touched.last_modified = "Wed, 15 Nov 2023 22:13:20 GMT";
  EXPECT_EQ(on(touched).kind, Kind::kGood) << "its tag says that its bytes are the same";
}

TEST(Verdict, TakesAWholeObjectOnlyWhereAllOfItIsWanted) {
  const ResponseHead whole{.status = 200, .content_length = 1000};
  EXPECT_EQ(verdict_on_range(whole, 0, 1000, &kVersion).kind, Kind::kGood);
  EXPECT_EQ(verdict_on_range(whole, 0, 100, &kVersion).kind, Kind::kFinal);
  EXPECT_EQ(verdict_on_range(whole, 50, 950, &kVersion).kind, Kind::kFinal);
  EXPECT_EQ(verdict_on_range(whole, 50, 950, &kVersion, true).kind, Kind::kAgain) << "of a server that knows better";
}

TEST(Verdict, AsksAgainAfterSomethingElseThanTheObject) {
  EXPECT_EQ(on({.status = 200, .content_length = 20}).kind, Kind::kAgain) << "the page of a proxy";
  EXPECT_EQ(on({.status = 200}).kind, Kind::kFinal);
}

TEST(Verdict, SaysWhatToCheckWhereAskingAgainIsOfNoUse) {
  for (const int status : {400, 401, 403, 404, 405, 410, 501}) {
    const Verdict verdict = on({.status = status});
    EXPECT_EQ(verdict.kind, Kind::kFinal) << status;
    EXPECT_THAT(verdict.why, HasSubstr("check")) << status;
    EXPECT_EQ(verdict.error, status == 404 || status == 410 ? ErrorKind::kNotFound : ErrorKind::kIo) << status;
  }
}

TEST(Verdict, DoesNotRepeatWhatAServerHasNoRoomFor) {
  for (const int status : {413, 507}) {
    EXPECT_EQ(verdict_on_head({.status = status}).kind, Kind::kFinal) << status;
    EXPECT_EQ(verdict_on_head({.status = status}).error, ErrorKind::kIo) << status;
  }
}

TEST(Verdict, AsksAgainWhereItMayPass) {
  for (const int status : {408, 429, 500, 502, 503, 504}) {
    const Verdict verdict = on({.status = status, .retry_after_s = 3});
    EXPECT_EQ(verdict.kind, Kind::kAgain) << status;
    EXPECT_EQ(verdict.retry_after_s, 3) << status;
  }
  EXPECT_EQ(on({}).kind, Kind::kAgain) << "no head at all";
  EXPECT_EQ(on({.status = 204}).kind, Kind::kAgain);
}

TEST(Verdict, RefusesABodyThatIsEncoded) {
  ResponseHead zipped = partial();
  zipped.content_encoding = "gzip";
  EXPECT_EQ(on(zipped).kind, Kind::kFinal);
  EXPECT_THAT(on(zipped).why, HasSubstr("'gzip'"));
}

TEST(Verdict, FollowsRedirects) {
  for (const int status : {301, 302, 303, 307, 308}) {
    EXPECT_EQ(on({.status = status}).kind, Kind::kRedirect);
    EXPECT_EQ(verdict_on_head({.status = status}).kind, Kind::kRedirect);
  }
}

TEST(Verdict, TellsFailuresThatPassFromOthers) {
  EXPECT_EQ(verdict_on_failure(CURLE_RECV_ERROR, "Connection reset by peer").kind, Kind::kAgain);
  EXPECT_EQ(verdict_on_failure(CURLE_WEIRD_SERVER_REPLY, "").kind, Kind::kAgain);
  EXPECT_TRUE(verdict_on_failure(CURLE_COULDNT_CONNECT, "refused").unreachable);
  const Verdict untrusted = verdict_on_failure(CURLE_PEER_FAILED_VERIFICATION, "self-signed certificate");
  EXPECT_EQ(untrusted.kind, Kind::kFinal);
  EXPECT_THAT(untrusted.why, HasSubstr("self-signed certificate"));
  EXPECT_EQ(verdict_on_failure(CURLE_URL_MALFORMAT, "").error, ErrorKind::kUsage);
  const Verdict plain =
      verdict_on_failure(CURLE_SSL_CONNECT_ERROR, "error:0A00010B:SSL routines::wrong version number");
  EXPECT_EQ(plain.kind, Kind::kFinal);
  EXPECT_THAT(plain.why, HasSubstr("http://"));
  EXPECT_EQ(verdict_on_failure(CURLE_SSL_CONNECT_ERROR, "unexpected eof while reading").kind, Kind::kAgain);
  const Verdict proxy =
      verdict_on_failure(CURLE_COULDNT_RESOLVE_PROXY, "Unsupported proxy syntax in 'http://user:secret@host:port'");
  EXPECT_EQ(proxy.kind, Kind::kFinal);
  EXPECT_THAT(proxy.why, Not(HasSubstr("secret")));
}

TEST(Verdict, AnObjectOfUnknownSizeMayBeTooShort) {
  ResponseHead head{.status = 206, .content_range = ContentRange{ContentRange::Range{10, 99}, 100}};
  const Verdict shorter = verdict_on_range(head, 10, 91, nullptr);
  EXPECT_EQ(shorter.kind, Verdict::Kind::kFinal);
  EXPECT_EQ(shorter.error, ErrorKind::kData);
  EXPECT_THAT(shorter.why, HasSubstr("it has 100 bytes"));
  EXPECT_EQ(verdict_on_range(head, 10, 90, nullptr).kind, Verdict::Kind::kGood);
  head.content_range->object_bytes = 101;  // then the server could have sent more
  EXPECT_EQ(verdict_on_range(head, 10, 91, nullptr).kind, Verdict::Kind::kAgain);
  const ResponseHead beyond{.status = 416, .content_range = ContentRange{std::nullopt, 100}};
  EXPECT_THAT(verdict_on_range(beyond, 100, 1, nullptr).why, HasSubstr("it has 100 bytes"));
}

}  // namespace
}  // namespace stoker
