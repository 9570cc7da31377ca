// Reading over HTTP: from servers that do what they should, and from others.
#include "stoker/storage/http/http_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <map>
#include <mutex>
#include <semaphore>
#include <set>

#include "stoker/base/clock.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/pending.h"
#include "stoker/base/random.h"
#include "stoker/storage/http/http_server_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using After = HttpServer::After;
using Asked = HttpServer::Asked;
using Reply = HttpServer::Reply;
using namespace std::chrono_literals;

std::string some_content(std::size_t size) {
  std::string content(size, '\0');
  Random random(3, 0, 0, 0);
  for (char& byte : content) byte = static_cast<char>(random.next_u32());
  return content;
}

/// A patient client would make tests slow.
HttpOptions hasty() {
  HttpOptions options;
  options.delay_first = 1ms;
  options.delay_most = 5ms;
  options.stall_max = 500ms;
  options.patience = 5s;
  return options;
}

class Http : public ::testing::Test {
 protected:
  /// Answers each request by `handler`, which gets the request's number, too.
  void serve(std::function<Reply(const Asked&, int)> handler) {
    server_.emplace([this, handler = std::move(handler)](const Asked& asked) { return handler(asked, asked_++); });
  }
  /// Answers as it should, but for the number of requests that `wrongly` answers first, the look at the object not
  /// counted.
  void serve_after(int faults, std::function<Reply(const Asked&)> wrongly) {
    serve([this, faults, wrongly = std::move(wrongly)](const Asked& asked, int number) {
      return number >= 1 && number <= faults ? wrongly(asked) : HttpServer::serve(asked, content_);
    });
  }

  HttpStore& store() {
    if (!store_) {
      transport_ = std::make_shared<HttpTransport>(options_, [] { return std::make_shared<ThreadExecutor>(1); });
      store_.emplace("http", transport_);
    }
    return *store_;
  }
  std::shared_ptr<Source> open() { return store().open(server_->url("/a.tar")); }
  std::string read(Source& source, std::uint64_t offset, std::size_t length) {
    std::string bytes(length, '\0');
    read_fully(source, offset, MutableBytes(reinterpret_cast<std::uint8_t*>(bytes.data()), length));
    return bytes;
  }
  /// The error of a read from an object that was opened before.
  Error error_of_read() {
    const std::shared_ptr<Source> source = open();
    return error_of([&] { read(*source, 10, 100); });
  }

  std::atomic<int> asked_ = 0;
  std::string content_ = some_content(100'000);
  std::optional<HttpServer> server_;
  HttpOptions options_ = hasty();
  std::shared_ptr<HttpTransport> transport_;
  std::optional<HttpStore> store_;
};

TEST_F(Http, ExaminesAndReadsAnObject) {
  serve_after(0, {});
  const Location at = server_->url("/a.tar");
  const ObjectFacts facts = store().stat(at, "open");
  EXPECT_TRUE(facts.is_file());
  EXPECT_EQ(facts.size, content_.size());
  EXPECT_EQ(facts.tag, "\"v1\"");
  const std::shared_ptr<Source> source = store().open(at);
  EXPECT_EQ(source->name(), at.text());
  EXPECT_EQ(source->size(), content_.size());
  EXPECT_EQ(read(*source, 0, content_.size()), content_);
  EXPECT_EQ(read(*source, 99'999, 1), content_.substr(99'999));
  EXPECT_EQ(server_->requests(), 3) << "it is examined once";
  EXPECT_EQ(server_->connections(), 1);
  EXPECT_EQ(transport_->traffic().requests, 3);
  EXPECT_EQ(transport_->traffic().bytes, 100'001);
  EXPECT_EQ(transport_->traffic().first_bytes.total(), 3);
  const std::int64_t busy_ns = transport_->traffic().busy_ns;
  EXPECT_GT(busy_ns, 0);
  EXPECT_EQ(transport_->traffic().busy_ns, busy_ns) << "nothing is under way";
  EXPECT_EQ(store().meter(), transport_);
}

TEST_F(Http, ReadsLongRangesInParts) {
  serve_after(0, {});
  options_.part_bytes = 30'000;
  const std::shared_ptr<Source> source = open();
  EXPECT_EQ(read(*source, 5, 90'000), content_.substr(5, 90'000));
  EXPECT_EQ(server_->requests(), 1 + 3);
}

TEST_F(Http, ReadsShortHolesAndPassesOverLongOnes) {
  content_ = some_content(1'000'000);
  serve_after(0, {});
  const std::shared_ptr<Source> source = open();
  std::vector<std::uint8_t> first(10), second(10), third(10);
  const MutableBytes into[] = {first, hole(1000), second, hole(900'000), third, hole(80'000)};
  ReadRequest request;
  request.offset = 7;
  request.into = into;
  Pending read;
  start_pending(*source, request, read);
  read.wait();
  ASSERT_FALSE(request.error);
  EXPECT_EQ(as_text(first), content_.substr(7, 10));
  EXPECT_EQ(as_text(second), content_.substr(1017, 10));
  EXPECT_EQ(as_text(third), content_.substr(901'027, 10));
  EXPECT_EQ(server_->requests(), 1 + 2);
  EXPECT_EQ(transport_->traffic().bytes, 1020 + 10);
}

TEST_F(Http, AsksAgainAfterFaultsThatMayPass) {
  const std::map<std::string, std::function<Reply(const Asked&)>> faults = {
      {"status 500", [](const Asked&) { return HttpServer::status(500); }},
      {"status 429", [](const Asked&) { return HttpServer::status(429, "Retry-After: 0\r\n"); }},
      {"reset",
       [](const Asked&) {
         return Reply{"", After::kReset};
       }},
      {"closed",
       [](const Asked&) {
         return Reply{"", After::kClose};
       }},
      {"no HTTP",
       [](const Asked&) {
         return Reply{"garbage garbage garbage\r\n\r\n", After::kClose};
       }},
      {"silent",
       [](const Asked&) {
         return Reply{"", After::kHold};
       }},
      {"stalls",
       [this](const Asked& asked) {
         return Reply{HttpServer::serve(asked, content_).text.substr(0, 200), After::kHold};
       }},
      {"short",
       [this](const Asked& asked) {
         return Reply{HttpServer::serve(asked, content_).text.substr(0, 200), After::kClose};
       }},
      {"other range",
       [](const Asked&) {
         return Reply{"HTTP/1.1 206 x\r\nContent-Range: bytes 0-99/100000\r\nContent-Length: 100\r\n\r\n" +
                      std::string(100, 'x')};
       }},
      {"other length",
       [](const Asked&) {
         return Reply{"HTTP/1.1 206 x\r\nContent-Range: bytes 10-109/100000\r\nContent-Length: 99\r\n\r\n" +
                      std::string(99, 'x')};
       }},
      {"short, of no announced length",
       [](const Asked&) {
         return Reply{"HTTP/1.1 206 x\r\nContent-Range: bytes 10-109/100000\r\n\r\n" + std::string(60, 'x'),
                      After::kClose};
       }},
      {"more bytes", [](const Asked&) {
         return Reply{"HTTP/1.1 206 x\r\nContent-Range: bytes 10-109/100000\r\n\r\n" + std::string(101, 'x'),
                      After::kClose};
       }}};
  for (const auto& [name, fault] : faults) {
    SCOPED_TRACE(name);
    asked_ = 0;
    store_.reset();
    serve_after(2, fault);
    const std::shared_ptr<Source> source = open();
    EXPECT_EQ(read(*source, 10, 100), content_.substr(10, 100));
    EXPECT_EQ(server_->requests(), 1 + 3);
    // A connection that was kept may be closed for its age: libcurl then asks again by itself.
    const bool closed = std::string_view(name) == "closed" || std::string_view(name) == "reset";
    EXPECT_EQ(transport_->traffic().retries, closed ? 1 : 2);
    EXPECT_EQ(transport_->slow_downs(), std::string_view(name) == "status 429" ? 2 : 0);
  }
}

TEST_F(Http, GivesUpAfterEnoughTriesAndSaysWhy) {
  serve_after(1000, [](const Asked&) { return HttpServer::status(503); });
  const Error error = error_of_read();
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("cannot read '" + server_->url("/a.tar") + "'"), HasSubstr("503"),
                                     HasSubstr("tried 10 times")));
  EXPECT_EQ(server_->requests(), 1 + 10);
}

TEST_F(Http, DoesNotWaitLongerThanItsPatience) {
  serve_after(1000, [](const Asked&) { return HttpServer::status(503, "Retry-After: 3600\r\n"); });
  EXPECT_THAT(error_of_read().message(), HasSubstr("asks to wait for 1 h"));
  EXPECT_EQ(server_->requests(), 2);
}

TEST_F(Http, HasMorePatienceWithAHostThatAnswers) {
  options_.patience = 100ms;
  serve_after(1, [](const Asked&) { return HttpServer::status(503, "Retry-After: 1\r\n"); });
  EXPECT_EQ(read(*open(), 10, 100), content_.substr(10, 100));
}

TEST_F(Http, GivesEachAnswerItsTimeAfterTheHostAskedToWait) {
  options_.patience = 600ms;
  serve([this, slow = std::make_shared<std::counting_semaphore<>>(0)](const Asked& asked, int number) {
    if (number == 1) return HttpServer::status(503, "Retry-After: 1\r\n");
    if (number > 1) slow->try_acquire_for(200ms);
    return HttpServer::serve(asked, content_);
  });
  EXPECT_EQ(read(*open(), 10, 100), content_.substr(10, 100));
}

TEST_F(Http, RepeatsNothingThatIsRefusedAndRemembersIt) {
  for (const int status : {400, 401, 403, 404, 410}) {
    asked_ = 0;
    store_.reset();
    serve_after(1000, [&](const Asked&) { return HttpServer::status(status); });
    const std::shared_ptr<Source> source = open();
    const std::string first = error_of([&] { read(*source, 10, 100); }).message();
    EXPECT_THAT(first, AllOf(HasSubstr(std::to_string(status)), HasSubstr("check")));
    EXPECT_EQ(error_of([&] { read(*source, 500, 100); }).message(), first);
    EXPECT_EQ(server_->requests(), 2) << status;
  }
}

TEST_F(Http, NoticesThatAnObjectWasReplaced) {
  serve([this](const Asked& asked, int number) {
    return HttpServer::serve(asked, content_, number < 2 ? "\"v1\"" : "\"v2\"");
  });
  const std::shared_ptr<Source> source = open();
  EXPECT_EQ(read(*source, 10, 100), content_.substr(10, 100));
  const Error error = error_of([&] { read(*source, 10, 100); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), HasSubstr("replaced"));
}

TEST_F(Http, NoticesItWhereTheServerKnowsNoConditions) {
  serve([this](const Asked& asked, int number) {
    Asked unconditional = asked;
    unconditional.fields.erase("if-match");
    return HttpServer::serve(unconditional, content_, number < 2 ? "\"v1\"" : "\"v2\"");
  });
  const std::shared_ptr<Source> source = open();
  read(*source, 10, 100);
  EXPECT_THAT(error_of([&] { read(*source, 10, 100); }).message(),
              AllOf(HasSubstr("replaced"), HasSubstr("\"v1\""), HasSubstr("\"v2\"")));
}

TEST_F(Http, AsksForAByteWhereTheServerRefusesToTellTheSize) {
  for (const int status : {403, 405, 501}) {
    asked_ = 0;
    store_.reset();
    serve([&, this](const Asked& asked, int) {
      return asked.method == "HEAD" ? HttpServer::status(status) : HttpServer::serve(asked, content_);
    });
    if (status == 501) content_.clear();
    EXPECT_EQ(store().stat(server_->url("/a.tar"), "open").size, content_.size()) << status;
  }
}

TEST_F(Http, SaysThatAServerKnowsNoRanges) {
  serve([this](const Asked& asked, int) {
    Asked whole = asked;
    whole.fields.erase("range");
    return HttpServer::serve(whole, content_);
  });
  EXPECT_THAT(error_of_read().message(), HasSubstr("whole objects instead of ranges"));
  EXPECT_EQ(server_->requests(), 2);
}

TEST_F(Http, AsksAgainWhereAServerForgetsOnceThatItKnowsRanges) {
  serve([this](const Asked& asked, int number) {
    Asked whole = asked;
    if (number == 2) whole.fields.erase("range");
    return HttpServer::serve(whole, content_);
  });
  const auto source = open();
  EXPECT_EQ(read(*source, 10, 100), content_.substr(10, 100));
  EXPECT_EQ(read(*source, 20, 100), content_.substr(20, 100));
  EXPECT_EQ(server_->requests(), 4);
}

TEST_F(Http, FindsNothingWhereThereIsNothing) {
  serve([](const Asked& asked, int) { return HttpServer::status(asked.target == "/secret.tar" ? 401 : 404); });
  EXPECT_FALSE(store().find(server_->url("/none.tar")));
  EXPECT_FALSE(store().find(server_->url("/secret.tar")));
  EXPECT_EQ(error_of([&] { store().open(server_->url("/none.tar")); }).kind(), ErrorKind::kNotFound);
  EXPECT_THAT(error_of([&] { store().stat(server_->url("/secret.tar"), "open"); }).message(),
              AllOf(HasSubstr("cannot open"), HasSubstr("401")));
}

TEST_F(Http, AsksForAllThatIsExpectedAtOnce) {
  serve([this](const Asked& asked, int) {
    return asked.target == "/2.tar" ? HttpServer::status(404) : HttpServer::serve(asked, content_);
  });
  std::vector<Location> objects;
  for (int i = 0; i < 5; ++i) objects.emplace_back(server_->url(fmt::format("/{}.tar", i)));
  objects.emplace_back(server_->url("/folder/"));
  store().expect(objects);
  EXPECT_EQ(server_->requests(), 5);
  for (int i : {0, 1, 3, 4}) EXPECT_EQ(store().find(objects[static_cast<std::size_t>(i)])->size, content_.size());
  EXPECT_EQ(server_->requests(), 5);
  EXPECT_FALSE(store().find(objects[2]));
}

TEST_F(Http, SaysHowToNameShardsWhereAListingIsNeeded) {
  serve_after(0, {});
  const Location folder = server_->url("/data/");
  EXPECT_TRUE(store().stat(folder, "open").is_folder());
  EXPECT_TRUE(store().find(server_->url(""))->is_folder());
  for (const Error& error :
       {error_of([&] { store().list(folder); }), error_of([&] { store().match(folder / "*.tar"); })}) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.message(), HasSubstr("shard-{000..099}.tar"));
  }
  EXPECT_EQ(error_of([&] { store().put(folder / "a.tar"); }).kind(), ErrorKind::kUsage);
  EXPECT_EQ(server_->requests(), 0);
}

TEST_F(Http, SaysWhatTheServerHasAgainstAFolder) {
  serve([](const Asked& asked, int) { return HttpServer::status(asked.target.starts_with("/closed/") ? 401 : 404); });
  const Location closed = server_->url("/closed/"), empty = server_->url("/empty/");
  store().expect_folder(closed, "manifest.json");
  store().expect_folder(empty, "manifest.json");
  EXPECT_THAT(error_of([&] { store().list(closed); }).message(), AllOf(HasSubstr("manifest.json"), HasSubstr("login")));
  EXPECT_THAT(error_of([&] { store().list(empty); }).message(), HasSubstr("cannot be listed"));
}

TEST_F(Http, TakesWhatLeadsToASlashForAFolder) {
  serve([](const Asked& asked, int) {
    if (asked.target == "/data") return HttpServer::status(301, "Location: /data/\r\n");
    return asked.target == "/data/" ? HttpServer::serve(asked, "<html>an index</html>") : HttpServer::status(404);
  });
  EXPECT_TRUE(store().find(server_->url("/data"))->is_folder());
  EXPECT_TRUE(store().stat(server_->url("/data"), "open").is_folder());
}

TEST_F(Http, ReadsFilesBelowAFolderByTheirNames) {
  std::set<std::string> asked_for;
  std::mutex mutex;
  serve([&](const Asked& asked, int) {
    const std::lock_guard lock(mutex);
    asked_for.insert(asked.target);
    return asked.target == "/none.jpg" ? HttpServer::status(404) : HttpServer::serve(asked, content_);
  });
  for (const char* url : {"/data", "/data/"}) {
    const auto folder = store().open_folder(server_->url(url));
    std::string bytes(100, '\0');
    read_fully(*folder, 5, MutableBytes(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()), "a b/é#1.jpg");
    EXPECT_EQ(bytes, content_.substr(5, 100));
    EXPECT_EQ(folder->size("a b/é#1.jpg"), content_.size());
    EXPECT_EQ(folder->name_of("x.jpg"), server_->url("/data/x.jpg"));
    EXPECT_EQ(error_of([&] { folder->list(""); }).kind(), ErrorKind::kUsage);
  }
  EXPECT_EQ(asked_for, (std::set<std::string>{"/data/a%20b/%C3%A9%231.jpg"}));
  EXPECT_EQ(error_of([&] { store().open_folder(server_->url(""))->size("none.jpg"); }).kind(), ErrorKind::kNotFound);
}

TEST_F(Http, FollowsRedirectsUpToALimit) {
  serve([this](const Asked& asked, int) {
    if (asked.target == "/loop.tar") return HttpServer::status(302, "Location: /loop.tar\r\n");
    if (asked.target == "/a.tar") return HttpServer::status(307, "Location: /b.tar?x=1\r\n");
    if (asked.target == "/file.tar") return HttpServer::status(302, "Location: file:///etc/passwd\r\n");
    return HttpServer::serve(asked, content_);
  });
  EXPECT_EQ(read(*open(), 10, 100), content_.substr(10, 100));
  EXPECT_EQ(transport_->traffic().redirects, 2);
  const int before = server_->requests();
  EXPECT_THAT(error_of([&] { store().open(server_->url("/loop.tar")); }).message(), HasSubstr("more than 5 times"));
  EXPECT_EQ(server_->requests() - before, 6);
  EXPECT_THAT(error_of([&] { store().open(server_->url("/file.tar")); }).message(), HasSubstr("redirects it to"));
}

TEST_F(Http, TellsALoginToItsOwnServerAlone) {
  std::atomic<int> logins_there = 0, logins_elsewhere = 0;
  HttpServer elsewhere([&](const Asked& asked) {
    logins_elsewhere += asked.field("authorization").empty() ? 0 : 1;
    return HttpServer::serve(asked, content_);
  });
  serve([&](const Asked& asked, int) {
    logins_there += asked.field("authorization") == "Basic dXNlcjpzZWNyZXQ=" ? 1 : 0;
    if (asked.target == "/a.tar") return HttpServer::status(302, "Location: /b.tar\r\n");
    return HttpServer::status(302, "Location: " + elsewhere.url("/c.tar") + "\r\n");
  });
  std::string url = server_->url("/a.tar");
  const std::shared_ptr<Source> source = store().open(url.insert(7, "user:secret@"));
  EXPECT_EQ(read(*source, 10, 100), content_.substr(10, 100));
  EXPECT_EQ(logins_there, 4) << "twice for the look at it, twice for the range";
  EXPECT_EQ(logins_elsewhere, 0);
  EXPECT_EQ(elsewhere.requests(), 2);
}

TEST_F(Http, ShowsNoSecrets) {
  serve([](const Asked& asked, int) { return HttpServer::status(asked.target.find("none") == 1 ? 404 : 500); });
  for (const char* path : {"/none.tar?sig=secret", "/a.tar?sig=secret"}) {
    std::string url = server_->url(path);
    url.insert(7, "user:secret@");
    EXPECT_THAT(error_of([&] { store().open(url); }).message(), AllOf(HasSubstr(".tar?..."), Not(HasSubstr("secret"))));
  }
}

TEST_F(Http, StopsAtOnceWhileAServerIsSilent) {
  options_ = HttpOptions();
  serve_after(1000, [](const Asked&) { return Reply{"", After::kHold}; });
  const std::shared_ptr<Source> source = open();
  std::uint8_t byte = 0;
  const MutableBytes piece(&byte, 1);
  std::stop_source stop;
  std::binary_semaphore ended(0);
  ReadRequest request;
  request.into = Pieces(&piece, 1);
  request.stop = stop.get_token();
  request.context = &ended;
  request.done = [](ReadRequest& one) noexcept { static_cast<std::binary_semaphore*>(one.context)->release(); };
  source->start(request);
  stop.request_stop();
  ASSERT_TRUE(ended.try_acquire_for(5s)) << "long before any time-out";
  EXPECT_EQ(error_of([&] { std::rethrow_exception(request.error); }).kind(), ErrorKind::kClosed);

  request.stop = {};
  request.deadline_ns = now_ns() + 20'000'000;
  source->start(request);
  ASSERT_TRUE(ended.try_acquire_for(5s));
  EXPECT_EQ(error_of([&] { std::rethrow_exception(request.error); }).kind(), ErrorKind::kIo);
}

TEST_F(Http, StopsAllThatIsUnderWay) {
  std::stop_source stop;
  options_.stop = stop.get_token();
  std::latch came(1);
  serve([&](const Asked&, int) {
    came.count_down();
    return Reply{"", After::kHold};
  });
  std::jthread stopper([&] {
    came.wait();
    stop.request_stop();
  });
  EXPECT_EQ(error_of([&] { open(); }).kind(), ErrorKind::kClosed);
}

TEST_F(Http, WaitsOnceForAServerThatHangs) {
  options_.patience = 200ms;
  serve_after(1000, [](const Asked&) { return Reply{"", After::kHold}; });
  const std::shared_ptr<Source> source = open();
  EXPECT_THAT(error_of([&] { read(*source, 0, 1); }).message(), HasSubstr("no answer came within"));
  const int asked = server_->requests();
  const Error again = error_of([&] { read(*source, 0, 1); });
  EXPECT_EQ(again.kind(), ErrorKind::kIo);
  EXPECT_THAT(again.message(), HasSubstr("does not answer"));
  EXPECT_EQ(server_->requests(), asked) << "it is not asked again";
}

TEST_F(Http, SaysWhereThereIsNoServer) {
  serve_after(0, {});
  const std::string url = server_->url("/a.tar");
  server_.reset();
  EXPECT_THAT(error_of([&] { store().open(url); }).message(),
              AllOf(HasSubstr("cannot open"), HasSubstr("tried 3 times")));
  const Error malformed = error_of([&] { store().open("http://not a host/a.tar"); });
  EXPECT_EQ(malformed.kind(), ErrorKind::kUsage) << malformed.message();
}

TEST_F(Http, SendsAnotherRequestForOneThatIsLate) {
  std::atomic<bool> hang = false;
  serve([&, this](const Asked& asked, int) {
    if (hang.exchange(false)) return Reply{"", After::kHold};
    return HttpServer::serve(asked, content_);
  });
  options_ = HttpOptions();  // nothing stalls that soon
  const std::shared_ptr<Source> source = open();
  for (std::uint64_t i = 0; i < 300; ++i) read(*source, i, 10);
  hang = true;
  EXPECT_EQ(read(*source, 10, 100), content_.substr(10, 100));
  EXPECT_GE(transport_->traffic().hedges, 1);
  EXPECT_EQ(transport_->traffic().retries, 0);
}

TEST_F(Http, KeepsToItsNumberOfRequests) {
  constexpr int kReads = 64;
  options_.exchanges_max = 4;
  std::atomic<int> now = 0, most = 0;
  serve([&, this](const Asked& asked, int) {
    for (int seen = most, here = ++now; seen < here && !most.compare_exchange_weak(seen, here);) continue;
    Reply reply = HttpServer::serve(asked, content_);
    --now;
    return reply;
  });
  const std::shared_ptr<Source> source = open();
  std::vector<std::uint8_t> bytes(kReads);
  std::vector<MutableBytes> pieces;
  std::vector<ReadRequest> requests(kReads);
  std::latch all(kReads);
  for (std::size_t i = 0; i < kReads; ++i) pieces.push_back(MutableBytes(bytes).subspan(i, 1));
  for (std::size_t i = 0; i < kReads; ++i) {
    requests[i].offset = i;
    requests[i].into = Pieces(&pieces[i], 1);
    requests[i].context = &all;
    requests[i].done = [](ReadRequest& one) noexcept { static_cast<std::latch*>(one.context)->count_down(); };
    source->start(requests[i]);
  }
  all.wait();
  EXPECT_EQ(as_text(bytes), content_.substr(0, kReads));
  EXPECT_LE(most, 4);
  EXPECT_LE(server_->connections(), 4);
}

}  // namespace
}  // namespace stoker
