// Calls that stores other than plain HTTP make: with bodies, replies, and fields and explanations of their own.
#include "stoker/storage/http/http_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <semaphore>

#include "stoker/base/error_testing.h"
#include "stoker/storage/http/http_server_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;
using After = HttpServer::After;
using Asked = HttpServer::Asked;
using Method = HttpCall::Method;
using Reply = HttpServer::Reply;
using namespace std::chrono_literals;

/// Numbers the requests in a field, and explains by the document alone.
class Numbered final : public HttpDialect {
 public:
  void add_fields(const HttpCall& /*call*/, std::vector<std::string>& lines) const override {
    lines.push_back(fmt::format("X-Number: {}", ++made_));
  }
  void explain(const HttpCall& /*call*/, const ResponseHead& head, std::string_view document,
               Verdict& verdict) const override {
    verdict = document == "slow down" ? Verdict::again("it wants peace")
                                      : Verdict::refusal(fmt::format("{} and '{}'", head.status, document));
  }

 private:
  mutable int made_ = 0;
};

class HttpCalls : public ::testing::Test {
 protected:
  void serve(std::function<Reply(const Asked&, int)> handler, std::chrono::milliseconds stall_max = 10s,
             std::chrono::milliseconds patience = 2s) {
    server_.emplace([this, handler = std::move(handler)](const Asked& asked) { return handler(asked, asked_++); });
    HttpOptions options;
    options.delay_first = 1ms;
    options.delay_most = 5ms;
    options.patience = patience;
    options.stall_max = stall_max;
    transport_.emplace(options, [] { return std::make_shared<ThreadExecutor>(1); });
  }

  /// Its error's message; empty after success.
  std::string perform(HttpCall& call, std::string_view path) {
    url_ = server_->url(path);
    host_ = transport_->host_of(url_);
    call.url = call.name = url_;
    call.host = host_.get();
    transport_->perform(call);
    return call.error ? error_of([&] { std::rethrow_exception(call.error); }).message() : std::string();
  }

  std::atomic<int> asked_ = 0;
  std::optional<HttpServer> server_;
  std::optional<HttpTransport> transport_;
  std::string url_;
  std::shared_ptr<HttpHost> host_;
  Numbered numbered_;
};

TEST_F(HttpCalls, SendTheWholeBodyEachTimeTheyAreRepeated) {
  for (const Method method : {Method::kPut, Method::kPost}) {
    for (const std::size_t size : {0u, 1u, 3'000'000u}) {
      const std::string body(size, 'x');
      std::atomic<int> whole = 0;
      asked_ = 0;
      serve([&](const Asked& asked, int number) -> Reply {
        EXPECT_EQ(asked.method, method == Method::kPut ? "PUT" : "POST");
        EXPECT_EQ(asked.field("content-length"), std::to_string(size));
        EXPECT_EQ(asked.field("expect"), "");
        whole += asked.body == body ? 1 : 0;
        if (number == 0) return HttpServer::status(503);
        if (number == 1) return {"", After::kReset};
        return HttpServer::status(200, "ETag: \"tag\"\r\n");
      });
      HttpCall call;
      call.method = method;
      call.body = as_bytes(body);
      EXPECT_EQ(perform(call, "/object"), "");
      EXPECT_EQ(call.head.tag, "\"tag\"");
      EXPECT_EQ(whole, 3);
    }
  }
}

TEST_F(HttpCalls, LetAServerDoWhatAPostAsksItTo) {
  for (const Method method : {Method::kPost, Method::kPut}) {
    asked_ = 0;
    serve(
        [slow = std::make_shared<std::counting_semaphore<>>(0)](const Asked&, int number) {
          if (number == 0) slow->try_acquire_for(1s);
          return HttpServer::status(200);
        },
        400ms, 20s);
    HttpCall call;
    call.method = method;
    call.body = as_bytes(std::string_view("parts"));
    EXPECT_EQ(perform(call, "/object"), "");
    EXPECT_EQ(asked_ > 1, method == Method::kPut) << "a server that only takes bytes has stalled";
  }
}

TEST_F(HttpCalls, RepeatAPostWhoseAnswerIsLost) {
  serve(
      [](const Asked&, int number) {
        return number == 0 ? Reply{"", After::kHold} : HttpServer::status(200);
      },
      10s, 300ms);
  HttpCall call;
  call.method = Method::kPost;
  call.body = as_bytes(std::string_view("parts"));
  EXPECT_EQ(perform(call, "/object"), "");
  EXPECT_EQ(asked_, 2);
}

TEST_F(HttpCalls, TakeRepliesUpToALimit) {
  serve([](const Asked& asked, int) {
    return HttpServer::status(200, "", asked.target == "/empty" ? "" : std::string(1000, 'y'));
  });
  std::string reply = "of before";
  HttpCall call;
  call.reply = &reply;
  call.reply_max = 1000;
  EXPECT_EQ(perform(call, "/long"), "");
  EXPECT_EQ(reply, std::string(1000, 'y'));
  EXPECT_EQ(perform(call, "/empty"), "");
  EXPECT_EQ(reply, "");
  call.reply_max = 999;
  EXPECT_THAT(perform(call, "/long"), HasSubstr("longer than 999 bytes"));
}

TEST_F(HttpCalls, HaveNoEffectOnTheCallsThatFollow) {
  serve([](const Asked& asked, int) {
    EXPECT_EQ(asked.field("range"), asked.target == "/range" ? "bytes=2-4" : "");
    EXPECT_EQ(asked.method, asked.target == "/deleted" ? "DELETE" : asked.target == "/put" ? "PUT" : "GET");
    return HttpServer::serve(asked, "0123456789");
  });
  for (int round = 0; round < 2; ++round) {
    HttpCall deletes;
    deletes.method = Method::kDelete;
    EXPECT_EQ(perform(deletes, "/deleted"), "");
    HttpCall puts;
    puts.method = Method::kPut;
    puts.body = as_bytes("body");
    EXPECT_EQ(perform(puts, "/put"), "");
    std::string text = "...";
    const MutableBytes into(reinterpret_cast<std::uint8_t*>(text.data()), text.size());
    HttpCall reads;
    reads.first = 2;
    reads.length = 3;
    reads.into = PieceCursor(Pieces(&into, 1));
    EXPECT_EQ(perform(reads, "/range"), "");
    EXPECT_EQ(text, "234");
    HttpCall whole;
    whole.reply = &text;
    whole.reply_max = 100;
    EXPECT_EQ(perform(whole, "/whole"), "");
    EXPECT_EQ(text, "0123456789");
  }
}

TEST_F(HttpCalls, CarryFieldsMadeAnewForEachRequestToTheirOrigin) {
  HttpServer elsewhere([](const Asked& asked) {
    EXPECT_EQ(asked.field("x-number"), "");
    return HttpServer::status(200, "", "there");
  });
  serve([&](const Asked& asked, int number) {
    EXPECT_EQ(asked.field("x-number"), std::to_string(number + 1));
    if (number == 0) return HttpServer::status(503, "", "slow down");
    if (number == 1) return HttpServer::status(302, "Location: /here\r\n");
    return HttpServer::status(307, "Location: " + elsewhere.url("/there") + "\r\n");
  });
  std::string reply;
  HttpCall call;
  call.dialect = &numbered_;
  call.reply = &reply;
  call.reply_max = 100;
  EXPECT_EQ(perform(call, "/"), "");
  EXPECT_EQ(reply, "there");
  EXPECT_EQ(server_->requests(), 3);
}

TEST_F(HttpCalls, ExplainRefusalsByTheirDocument) {
  serve([](const Asked& asked, int number) {
    const bool is_slow = asked.target == "/slow" && number < 2;
    return HttpServer::status(is_slow ? 400 : 403, "", is_slow ? "slow down" : "no keys");
  });
  HttpCall call;
  call.dialect = &numbered_;
  call.length = 5;
  EXPECT_THAT(perform(call, "/slow"), HasSubstr("403 and 'no keys'"));
  EXPECT_EQ(server_->requests(), 3);
  EXPECT_TRUE(call.is_final);
}

TEST_F(HttpCalls, KeepFieldsAndRedirectsOnRequest) {
  serve([](const Asked&, int) { return HttpServer::status(302, "Location: /b\r\nX-Linked-Size: 17\r\n"); });
  HttpCall call;
  call.method = Method::kHead;
  call.follows_redirects = false;
  call.keeps_fields = true;
  EXPECT_EQ(perform(call, "/a"), "");
  EXPECT_EQ(call.head.status, 302);
  EXPECT_THAT(call.head.fields, Contains(Pair("x-linked-size", "17")));
  EXPECT_EQ(call.head.field("location"), "/b");
  EXPECT_EQ(server_->requests(), 1);
}

}  // namespace
}  // namespace stoker
