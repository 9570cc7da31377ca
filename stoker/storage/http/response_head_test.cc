#include "stoker/storage/http/response_head.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

constexpr std::int64_t kNow = 1'700'000'000;  // Tue, 14 Nov 2023 22:13:20 GMT

ResponseHead head_of(std::initializer_list<std::string_view> lines) {
  ResponseHead head;
  for (const std::string_view line : lines) head.take_line(line, kNow);
  return head;
}

TEST(ContentRange, IsARangeASizeOrBoth) {
  EXPECT_EQ(parse_content_range("bytes 0-99/1000"), (ContentRange{ContentRange::Range{0, 99}, 1000}));
  EXPECT_EQ(parse_content_range(" Bytes  5-5/* "), (ContentRange{ContentRange::Range{5, 5}, std::nullopt}));
  EXPECT_EQ(parse_content_range("bytes */0"), (ContentRange{std::nullopt, 0}));
  EXPECT_EQ(parse_content_range("bytes 18446744073709551614-18446744073709551614/18446744073709551615")->range->first,
            18446744073709551614u);
}

TEST(ContentRange, IsNothingWhereItContradictsItself) {
  for (const char* value :
       {"", "bytes", "bytes ", "bytes 0-99", "bytes 5-4/10", "bytes 0-10/10", "bytes */*", "bytes -5/10", "bytes 5-/10",
        "bytes 0-1/x", "items 0-1/10", "bytes 0 - 1/10", "bytes 0-18446744073709551616/*", "bytes +1-2/10"}) {
    EXPECT_FALSE(parse_content_range(value)) << value;
  }
}

TEST(RetryAfter, IsANumberOfSecondsOrADate) {
  EXPECT_EQ(parse_retry_after("120", kNow), 120);
  EXPECT_EQ(parse_retry_after(" 0 ", kNow), 0);
  EXPECT_EQ(parse_retry_after("Tue, 14 Nov 2023 22:13:50 GMT", kNow), 30);
  EXPECT_EQ(parse_retry_after("Tue, 14 Nov 2023 22:13:00 GMT", kNow), 0) << "in the past";
  EXPECT_GT(parse_retry_after("99999999999999999999999", kNow), 24 * 3600);
  EXPECT_FALSE(parse_retry_after("soon", kNow));
  EXPECT_FALSE(parse_retry_after("", kNow));
}

TEST(ResponseHead, HoldsWhatReadingDependsOn) {
  const ResponseHead head =
      head_of({"HTTP/1.1 206 Partial Content\r\n", "content-length: 100\r\n", "Content-Range: bytes 0-99/1000\r\n",
               "ETAG:\"abc\"\r\n", "Last-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\n", "Content-Encoding: GZip\r\n",
               "Retry-After: 7\r\n", "X-Other: 1\r\n"});
  EXPECT_EQ(head.status, 206);
  EXPECT_EQ(head.content_length, 100u);
  EXPECT_EQ(head.content_range->object_bytes, 1000u);
  EXPECT_EQ(head.tag, "\"abc\"");
  EXPECT_EQ(parse_http_date(head.last_modified), kNow);
  EXPECT_EQ(head.content_encoding, "gzip");
  EXPECT_EQ(head.retry_after_s, 7);
  EXPECT_FALSE(head.complete);
}

TEST(ResponseHead, BeginsAgainAfterAnInterimResponse) {
  const ResponseHead head = head_of({"HTTP/1.1 100 Continue", "ETag: \"old\"", "", "HTTP/1.1 200 OK", ""});
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.tag, "");
  EXPECT_TRUE(head.complete);
  EXPECT_FALSE(head_of({"HTTP/1.1 100 Continue", ""}).complete);
}

TEST(ResponseHead, PassesOverWhatItDoesNotUnderstand) {
  const ResponseHead head =
      head_of({"HTTP/1.1 200 OK", "no colon", ": no name", "Content-Length: -5", "Content-Length ",
               "Content-Range: none", "Content-Encoding: identity", "HTTP/1.1 x"});
  EXPECT_EQ(head.status, 200);
  EXPECT_FALSE(head.content_length);
  EXPECT_FALSE(head.content_range);
  EXPECT_EQ(head.content_encoding, "");
}

TEST(ResponseHead, DropsEncodingsThatLeaveTheBodyAsItIs) {
  const auto encoding = [](std::initializer_list<std::string_view> lines) { return head_of(lines).content_encoding; };
  EXPECT_EQ(encoding({"Content-Encoding: aws-chunked"}), "");
  EXPECT_EQ(encoding({"Content-Encoding: AWS-Chunked, identity,"}), "");
  EXPECT_EQ(encoding({"Content-Encoding: aws-chunked, GZip"}), "gzip");
  EXPECT_EQ(encoding({"Content-Encoding: gzip,br"}), "gzip, br");
  EXPECT_EQ(encoding({"Content-Encoding: gzip", "Content-Encoding: aws-chunked"}), "gzip");
}

TEST(ResponseHead, KnowsWhichTagsNameOneVersion) {
  EXPECT_TRUE(is_strong_tag("\"abc\""));
  EXPECT_TRUE(is_strong_tag("\"\""));
  EXPECT_FALSE(is_strong_tag("W/\"abc\""));
  EXPECT_FALSE(is_strong_tag("abc"));
  EXPECT_FALSE(is_strong_tag("\""));
  EXPECT_FALSE(is_strong_tag(""));
}

}  // namespace
}  // namespace stoker
