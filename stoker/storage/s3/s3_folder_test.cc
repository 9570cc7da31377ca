// The first look at what may be a folder of a data set: all that is asked takes one round trip.
#include "stoker/storage/s3/s3_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/error_testing.h"
#include "stoker/base/watchdog_testing.h"
#include "stoker/storage/s3/s3_server_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

class S3FirstLook : public ::testing::Test {
 protected:
  S3FirstLook() {
    server_.put("t/a.tar", "x");
    server_.put("t/list.json", "content");
  }

  /// No request is answered before so many have come.
  void answer_together(std::ptrdiff_t requests) {
    const auto all = std::make_shared<std::latch>(requests);
    server_.meddle([all](const S3Server::Asked&) -> std::optional<HttpServer::Reply> {
      if (!all->try_wait()) all->arrive_and_wait();
      return std::nullopt;
    });
  }
  /// Those for which `is_refused(asked)` are refused.
  template <typename IsRefused>
  void refuse(int status, std::string_view code, IsRefused is_refused) {
    server_.meddle([=](const S3Server::Asked& asked) -> std::optional<HttpServer::Reply> {
      return is_refused(asked) ? std::optional(S3Server::refusal(status, code)) : std::nullopt;
    });
  }
  std::size_t asked() const { return server_.requests().size(); }
  static std::string read(const Store& store) { return read_whole(*store.open("s3://bucket/t/list.json")); }

  S3Server server_;
};

TEST_F(S3FirstLook, AsksForTheFolderAndTheFileAtOnce) {
  struct Case {
    const char* at;
    std::ptrdiff_t requests;
  };
  for (const Case& one : {Case{"s3://bucket/t/", 2}, Case{"s3://bucket/t", 3}}) {
    const Watchdog watchdog;
    const std::size_t before = asked();
    answer_together(one.requests);
    const auto store = s3_store(server_);
    store->expect_folder(one.at, "list.json");
    ASSERT_TRUE(store->find(one.at));
    EXPECT_TRUE(store->find(one.at)->is_folder());
    EXPECT_TRUE(store->stat(one.at, "open").is_folder());
    EXPECT_EQ(store->find("s3://bucket/t/list.json")->size, 7u);
    EXPECT_FALSE(store->find("s3://bucket/t/other.json"));
    EXPECT_EQ(read(*store), "content");
    EXPECT_EQ(asked(), before + static_cast<std::size_t>(one.requests)) << one.at;
    EXPECT_EQ(read(*store), "content");
    EXPECT_EQ(asked(), before + static_cast<std::size_t>(one.requests) + 1) << "the content is given once";
  }
}

TEST_F(S3FirstLook, KnowsAnObjectOfTheSameName) {
  server_.put("t", "object");
  const auto store = s3_store(server_);
  store->expect_folder("s3://bucket/t", "list.json");
  const std::size_t before = asked();
  EXPECT_TRUE(store->find("s3://bucket/t")->is_file());
  EXPECT_TRUE(store->find("s3://bucket/t/")->is_folder());
  EXPECT_EQ(asked(), before);
}

TEST_F(S3FirstLook, KnowsThatNothingIsThere) {
  const auto store = s3_store(server_);
  store->expect_folder("s3://bucket/none", "list.json");
  const std::size_t before = asked();
  EXPECT_FALSE(store->find("s3://bucket/none"));
  EXPECT_FALSE(store->find("s3://bucket/none/list.json"));
  EXPECT_EQ(asked(), before);
  EXPECT_EQ(error_of([&] { store->stat("s3://bucket/none", "open"); }).kind(), ErrorKind::kNotFound);
}

TEST_F(S3FirstLook, KnowsAFolderOfWhichItSawAPart) {
  server_.set_page(1);
  const auto store = s3_store(server_);
  store->expect_folder("s3://bucket/t", "list.json");
  const std::size_t before = asked();
  EXPECT_TRUE(store->find("s3://bucket/t")->is_folder());
  EXPECT_EQ(store->find("s3://bucket/t/a.tar")->size, 1u);
  EXPECT_EQ(asked(), before);
  EXPECT_EQ(read(*store), "content");
  EXPECT_EQ(asked(), before + 1) << "what the listing had not come to is looked at";
}

TEST_F(S3FirstLook, ReadsAFileAnewThatIsNotTheOneListed) {
  std::atomic<int> reads = 0;
  server_.meddle([&](const S3Server::Asked& asked) -> std::optional<HttpServer::Reply> {
    if (asked.key != "t/list.json" || ++reads > 1) return std::nullopt;
    return HttpServer::serve(asked.http, "earlier", "\"earlier\"");
  });
  const auto store = s3_store(server_);
  store->expect_folder("s3://bucket/t/", "list.json");
  EXPECT_EQ(read(*store), "content");
  EXPECT_EQ(reads, 2);
}

TEST_F(S3FirstLook, ReadsWhatItWroteItself) {
  const auto store = s3_store(server_);
  store->expect_folder("s3://bucket/t", "list.json");
  const auto writer = store->put("s3://bucket/t/list.json");
  writer->write(as_bytes("written"));
  writer->commit();
  EXPECT_EQ(read(*store), "written");
  const auto object = store->put("s3://bucket/t");
  object->write(as_bytes("object"));
  object->commit();
  EXPECT_TRUE(store->find("s3://bucket/t")->is_file());
}

TEST_F(S3FirstLook, LeavesLongFilesToThoseWhoReadThem) {
  const std::string content(5 << 20, 'x');
  server_.put("t/list.json", content);
  const auto store = s3_store(server_);
  store->expect_folder("s3://bucket/t/", "list.json");
  EXPECT_TRUE(read(*store) == content);
}

TEST_F(S3FirstLook, LeavesRefusalsToThoseWhoAsk) {
  const auto store = s3_store(server_), other = s3_store(server_);
  refuse(403, "AccessDenied", [](const S3Server::Asked& asked) { return asked.key == "t/list.json"; });
  store->expect_folder("s3://bucket/t/", "list.json");
  EXPECT_TRUE(store->find("s3://bucket/t/")->is_folder());
  EXPECT_TRUE(other->find("s3://bucket/t/")->is_folder());
  EXPECT_EQ(error_of([&] { read(*store); }).message(), error_of([&] { read(*other); }).message());

  refuse(403, "AccessDenied", [](const S3Server::Asked& asked) { return asked.key.empty(); });
  const auto unlisted = s3_store(server_), unlisted_other = s3_store(server_);
  unlisted->expect_folder("s3://bucket/t/", "list.json");
  EXPECT_EQ(error_of([&] { unlisted->find("s3://bucket/t/"); }).message(),
            error_of([&] { unlisted_other->find("s3://bucket/t/"); }).message());
  EXPECT_EQ(read(*unlisted), "content") << "what may not be listed may still be read";
}

TEST_F(S3FirstLook, DoesNotWaitTwiceForAStoreThatDoesNotAnswer) {
  refuse(503, "SlowDown", [](const S3Server::Asked&) { return true; });
  const HttpOptions quick{.delay_first = std::chrono::milliseconds(1), .delay_most = std::chrono::milliseconds(2)};
  const auto why = [](const Error& error) {  // without how long it took
    return error.message().substr(0, error.message().find("; it was tried"));
  };
  const Error expected = error_of([&] { s3_store(server_, quick)->expect_folder("s3://bucket/t/", "list.json"); });
  EXPECT_EQ(why(expected), why(error_of([&] { s3_store(server_, quick)->find("s3://bucket/t/"); })));
  EXPECT_THAT(expected.message(), HasSubstr("look at 's3://bucket/t/'"));
}

}  // namespace
}  // namespace stoker
