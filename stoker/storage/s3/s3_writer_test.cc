#include "stoker/storage/s3/s3_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "stoker/base/error_testing.h"
#include "stoker/base/log_testing.h"
#include "stoker/storage/s3/s3_server_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kPart = S3Writer::kPartBytes;

HttpOptions hasty() {
  return {.delay_first = std::chrono::milliseconds(1), .delay_most = std::chrono::milliseconds(2)};
}

std::string content_of(std::size_t bytes) {
  std::string content(bytes, '\0');
  std::uint32_t state = 1;
  for (char& c : content) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return content;
}

class S3WriterTest : public ::testing::Test {
 protected:
  std::unique_ptr<ObjectWriter> begin(HttpOptions options = hasty()) {
    return s3_store(server_, std::move(options))->put("s3://bucket/a.tar");
  }

  /// Refuses what begins so, `times` times.
  void refuse(const std::string& beginning, int times, HttpServer::Reply reply) {
    auto left = std::make_shared<std::atomic<int>>(times);
    server_.meddle([=](const S3Server::Asked& asked) -> std::optional<HttpServer::Reply> {
      if (!asked.summary().starts_with(beginning) || left->fetch_sub(1) <= 0) return std::nullopt;
      return reply;
    });
  }

  S3Server server_;
};

TEST_F(S3WriterTest, WritesASmallObjectByOneRequest) {
  const auto object = begin();
  object->write(as_bytes(std::string_view("con")));
  object->write(as_bytes(std::string_view("tent")));
  EXPECT_THAT(server_.requests(), IsEmpty());
  object->commit();
  EXPECT_THAT(server_.requests(), ElementsAre("PUT bucket/a.tar"));
  EXPECT_EQ(server_.get("a.tar"), "content");
}

TEST_F(S3WriterTest, WritesALargeObjectInPartsThatShowWhenItIsCommitted) {
  const std::string content = content_of(6 * kPart + 17);
  const auto object = begin();
  for (std::size_t at = 0; at < content.size(); at += 1'000'003) {
    object->write(as_bytes(std::string_view(content).substr(at, 1'000'003)));
  }
  EXPECT_EQ(server_.uploads(), 1u);
  EXPECT_EQ(server_.objects(), 0u);
  object->commit();
  EXPECT_EQ(server_.uploads(), 0u);
  EXPECT_TRUE(server_.get("a.tar") == content);
  EXPECT_EQ(server_.count("PUT bucket/a.tar partNumber"), 7);
}

TEST_F(S3WriterTest, WritesAnObjectOfWholePartsInThem) {
  for (const std::size_t parts : {1, 2}) {
    const std::string content = content_of(parts * kPart);
    const auto object = begin();
    object->write(as_bytes(content));
    object->commit();
    EXPECT_TRUE(server_.get("a.tar") == content);
  }
  EXPECT_EQ(server_.count("PUT bucket/a.tar partNumber"), 2);
}

TEST_F(S3WriterTest, RemovesPartsThatAreNotCommitted) {
  {
    const auto object = begin();
    object->write(as_bytes(content_of(2 * kPart + 1)));
    EXPECT_EQ(server_.uploads(), 1u);
  }
  EXPECT_EQ(server_.uploads(), 0u);
  EXPECT_EQ(server_.objects(), 0u);
}

TEST_F(S3WriterTest, RemovesPartsEvenWhenEverythingWasStopped) {
  std::stop_source stop;
  HttpOptions options = hasty();
  options.stop = stop.get_token();
  {
    const auto object = begin(options);
    object->write(as_bytes(content_of(2 * kPart + 1)));
    stop.request_stop();
    EXPECT_EQ(error_of([&] { object->commit(); }).kind(), ErrorKind::kClosed);
  }
  EXPECT_EQ(server_.uploads(), 0u);
}

TEST_F(S3WriterTest, RepeatsPartsThatFail) {
  refuse("PUT bucket/a.tar partNumber", 3, S3Server::refusal(503, "SlowDown"));
  const std::string content = content_of(3 * kPart);
  const auto object = begin();
  object->write(as_bytes(content));
  object->commit();
  EXPECT_TRUE(server_.get("a.tar") == content);
  EXPECT_EQ(server_.count("PUT bucket/a.tar partNumber"), 6);
}

TEST_F(S3WriterTest, RepeatsAPartWhoseConnectionBreaks) {
  refuse("PUT bucket/a.tar partNumber", 1, {"", HttpServer::After::kReset});
  const std::string content = content_of(2 * kPart);
  const auto object = begin();
  object->write(as_bytes(content));
  object->commit();
  EXPECT_TRUE(server_.get("a.tar") == content);
}

TEST_F(S3WriterTest, GivesUpAndRemovesPartsWhenOneIsDenied) {
  {
    refuse("PUT bucket/a.tar partNumber", 1, S3Server::refusal(403, "AccessDenied"));
    const auto object = begin();
    const Error error = error_of([&] {
      object->write(as_bytes(content_of(3 * kPart)));
      object->commit();
    });
    EXPECT_THAT(error.message(), AllOf(HasSubstr("cannot write 's3://bucket/a.tar'"), HasSubstr("access is denied")));
  }
  EXPECT_EQ(server_.uploads(), 0u);
  EXPECT_EQ(server_.objects(), 0u);
}

TEST_F(S3WriterTest, BelievesNoCompletionThatEndsInAnError) {
  refuse("POST bucket/a.tar uploadId", 1,
         HttpServer::status(200, "", "\n\n<Error><Code>InternalError</Code><Message>Try again.</Message></Error>"));
  const std::string content = content_of(2 * kPart);
  {
    const auto object = begin();
    object->write(as_bytes(content));
    object->commit();
    EXPECT_TRUE(server_.get("a.tar") == content) << "it is asked again";
  }
  refuse("POST bucket/a.tar uploadId", 9,
         HttpServer::status(200, "", "<Error><Code>InternalError</Code><Message>Try again.</Message></Error>"));
  const auto object = begin();
  object->write(as_bytes(content));
  EXPECT_THAT(error_of([&] { object->commit(); }).message(), HasSubstr("'InternalError': Try again."));
}

TEST_F(S3WriterTest, FindsWhatItCompletedWhenTheAnswerIsLost) {
  // The first completion is carried out, but its answer does not come.
  const std::string content = content_of(2 * kPart + 5);
  std::atomic<bool> lost = false;
  server_.meddle([&](const S3Server::Asked& asked) -> std::optional<HttpServer::Reply> {
    if (!asked.summary().starts_with("POST bucket/a.tar uploadId") || lost.exchange(true)) return std::nullopt;
    server_.complete_upload(asked);
    return HttpServer::Reply{"", HttpServer::After::kReset};
  });
  const auto object = begin();
  object->write(as_bytes(content));
  object->commit();
  EXPECT_TRUE(lost);
  EXPECT_TRUE(server_.get("a.tar") == content);
}

TEST_F(S3WriterTest, TellsWhenSomebodyElseRemovedItsParts) {
  const auto object = begin();
  object->write(as_bytes(content_of(2 * kPart)));
  server_.forget_uploads();
  EXPECT_THAT(error_of([&] { object->commit(); }).message(), HasSubstr("NoSuchUpload"));
}

TEST_F(S3WriterTest, RemovesAnUploadWhoseBeginningWasNotAnswered) {
  std::atomic<bool> lost = false;
  server_.meddle([&](const S3Server::Asked& asked) -> std::optional<HttpServer::Reply> {
    if (asked.summary() != "POST bucket/a.tar uploads" || lost.exchange(true)) return std::nullopt;
    server_.leave_upload("a.tar");
    return HttpServer::Reply{"", HttpServer::After::kReset};
  });
  const std::string content = content_of(kPart + 1);
  const auto object = begin();
  object->write(as_bytes(content));
  EXPECT_EQ(server_.uploads(), 2u);
  object->commit();
  EXPECT_EQ(server_.uploads(), 0u);
  EXPECT_TRUE(server_.get("a.tar") == content);
}

TEST_F(S3WriterTest, RemovesWhatOthersLeftOfTheObjectAndOfNoOther) {
  for (const char* key : {"a.tar", "a.tar.sidx", "a.tar", "b.tar", "a.tar"}) server_.leave_upload(key);
  server_.set_page(2);
  const auto object = begin();
  object->write(as_bytes(content_of(kPart + 1)));
  object->commit();
  EXPECT_EQ(server_.uploads(), 2u);
}

TEST_F(S3WriterTest, RemovesWhatItMayHaveBegunWhenItGivesUp) {
  server_.meddle([&](const S3Server::Asked& asked) -> std::optional<HttpServer::Reply> {
    if (asked.summary() != "POST bucket/a.tar uploads") return std::nullopt;
    server_.leave_upload("a.tar");
    return S3Server::refusal(500, "InternalError");
  });
  {
    const auto object = begin();
    EXPECT_EQ(error_of([&] { object->write(as_bytes(content_of(kPart + 1))); }).kind(), ErrorKind::kIo);
    EXPECT_GT(server_.uploads(), 1u);
  }
  EXPECT_EQ(server_.uploads(), 0u);
}

TEST_F(S3WriterTest, AsksAStoreThatDoesNotListUploadsOnce) {
  LogCapture log;
  const auto store = s3_store(server_, hasty());
  refuse("GET bucket/ ", 9, S3Server::refusal(403, "AccessDenied"));
  for (int i = 0; i < 3; ++i) {
    const auto object = store->put("s3://bucket/a.tar");
    object->write(as_bytes(content_of(kPart + 1)));
    object->commit();
  }
  EXPECT_EQ(server_.count("GET bucket/ "), 1);
  EXPECT_THAT(log.lines, IsEmpty());
}

TEST_F(S3WriterTest, LeavesTheUploadsOfOtherWritersOfTheObjectAlone) {
  const std::string content = content_of(2 * kPart + 1);
  const auto store = s3_store(server_, hasty());
  const auto begun = [&](std::string_view writer) {
    auto object = store->for_writer(writer)->put("s3://bucket/a.tar");
    object->write(as_bytes(content));
    return object;
  };
  auto given_up = begun("a");
  const auto first = begun("b"), second = begun("c");
  EXPECT_EQ(server_.uploads(), 3u);
  given_up.reset();
  EXPECT_EQ(server_.uploads(), 2u);
  first->commit();
  EXPECT_EQ(server_.uploads(), 1u);
  second->commit();
  EXPECT_EQ(server_.uploads(), 0u);
  EXPECT_TRUE(server_.get("a.tar") == content);
}

TEST_F(S3WriterTest, RemovesWhatWasLeftInAFolderAndInNoOther) {
  for (const char* key : {"packed/a.tar", "packed/b.tar", "packed/deep/c.tar", "packed.tar", "d.tar"}) {
    server_.leave_upload(key);
  }
  server_.set_page(2);
  s3_store(server_, hasty())->remove_unfinished("s3://bucket/packed");
  EXPECT_EQ(server_.uploads(), 3u);
}

TEST_F(S3WriterTest, RefusesListingsOfUploadsThatGoOnInTheSamePlace) {
  constexpr int kEnd = 10;  // so that the test ends where they are not refused
  std::atomic<int> asked = 0;
  server_.meddle([&](const S3Server::Asked&) {
    return HttpServer::status(200, "",
                              fmt::format("<ListMultipartUploadsResult><IsTruncated>{}</IsTruncated>"
                                          "<NextKeyMarker>again</NextKeyMarker><NextUploadIdMarker>1"
                                          "</NextUploadIdMarker></ListMultipartUploadsResult>",
                                          ++asked < kEnd));
  });
  LogCapture log;
  s3_store(server_, hasty())->remove_unfinished("s3://bucket/packed");
  EXPECT_THAT(log.lines, Contains(HasSubstr("two of the store's answers go on in the same place")));
  EXPECT_EQ(asked, 2);
}

TEST_F(S3WriterTest, WarnsOfPartsThatItCannotRemove) {
  LogCapture log;
  refuse("DELETE", 1, S3Server::refusal(403, "AccessDenied"));
  {
    const auto object = begin();
    object->write(as_bytes(content_of(kPart + 1)));
  }
  EXPECT_THAT(log.lines, Contains(HasSubstr("parts of 's3://bucket/a.tar' may stay in the store, and are charged")));
}

}  // namespace
}  // namespace stoker
