// How the driver divides its thread's time between calls.
#include "stoker/storage/http/http_driver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <stop_token>
#include <string>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/watchdog_testing.h"
#include "stoker/storage/http/http_host.h"
#include "stoker/storage/http/http_server_testing.h"

namespace stoker {
namespace {

// The first of hundreds would be sent late if all were begun before the sockets are looked at.
TEST(HttpDriver, BeginsAFewCallsAtATime) {
  constexpr std::int64_t kSweepNs = 10'000'000;  // so often it looks at all calls, and begins those that are due
  constexpr int kCalls = 40, kBegunAtOnce = 8;
  const Watchdog watchdog;
  HttpServer server([](const HttpServer::Asked&) { return HttpServer::status(200, "", "content"); });
  const std::string url = server.url("/object");
  for (bool was_undisturbed = false; !was_undisturbed;) {
    HttpCounters counters;
    HttpDriver driver({}, counters);
    const std::int64_t began_ns = now_ns();
    driver.wake();
    driver.advance();  // looks at all calls, of which there are none
    HttpHost host;
    std::deque<HttpCall> calls(kCalls);
    std::deque<std::string> replies(kCalls);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      calls[i].url = calls[i].name = url;
      calls[i].host = &host;
      calls[i].reply = &replies[i];
      calls[i].reply_max = 100;
      driver.add(calls[i]);
    }
    driver.advance();
    was_undisturbed = now_ns() - began_ns < kSweepNs;
    if (was_undisturbed) {
      EXPECT_EQ(counters.read().requests, kBegunAtOnce);
    }
    while (!driver.idle()) driver.advance();
    EXPECT_EQ(counters.read().requests, kCalls);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      EXPECT_FALSE(calls[i].error);
      EXPECT_EQ(replies[i], "content");
    }
  }
}

// The sweep begins calls that are in line, too. Where it is the last of them that is redirected before its turn, the
// line ends in it already.
TEST(HttpDriver, HasARedirectedCallInLineOnce) {
  constexpr std::size_t kCalls = 41;                // each time that the driver advances, eight have their turn
  constexpr std::int64_t kPatienceNs = 20'000'000;  // for the server: without it, the redirect comes after the turn
  const Watchdog watchdog;
  std::atomic<bool> has_redirected = false;
  HttpServer server([&](const HttpServer::Asked& asked) {
    if (asked.target == "/b") return HttpServer::status(200, "", "content");
    has_redirected = true;
    return HttpServer::status(302, "Location: /b\r\n");
  });
  const std::string direct = server.url("/b"), redirected = server.url("/a");
  HttpCounters counters;
  HttpDriver driver({}, counters);
  HttpHost host;
  std::deque<HttpCall> calls(kCalls + 1);
  std::deque<std::string> replies(calls.size());
  const auto add = [&](std::size_t i, const std::string& url) {
    calls[i].url = calls[i].name = url;
    calls[i].host = &host;
    calls[i].reply = &replies[i];
    calls[i].reply_max = 100;
    driver.add(calls[i]);
  };
  const auto advance = [&] {
    while (!driver.idle()) {
      driver.advance();
      const std::int64_t until_ns = now_ns() + kPatienceNs;
      while (!has_redirected && now_ns() < until_ns) std::this_thread::yield();
    }
  };
  for (std::size_t i = 0; i < kCalls; ++i) add(i, i + 1 < kCalls ? direct : redirected);
  advance();
  add(kCalls, direct);
  advance();
  const StoreTraffic traffic = counters.read();
  EXPECT_EQ(traffic.requests - traffic.hedges, static_cast<std::int64_t>(kCalls + 2))
      << "none is begun after it has ended";
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_FALSE(calls[i].error);
    EXPECT_EQ(replies[i], "content");
  }
}

TEST(HttpDriver, MakesACallThatDoesNotWaitForRoomWhereOthersTakeAllOfIt) {
  const Watchdog watchdog;
  HttpServer server([](const HttpServer::Asked& asked) {
    return asked.target == "/keys" ? HttpServer::status(200, "", "content")
                                   : HttpServer::Reply{"", HttpServer::After::kHold};
  });
  const std::string held = server.url("/held"), keys = server.url("/keys");
  HttpCounters counters;
  HttpDriver driver({.exchanges_near = 1, .exchanges_max = 1}, counters);
  HttpHost host;
  std::stop_source stop;
  std::deque<HttpCall> calls(3);
  std::deque<std::string> replies(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const bool is_last = i + 1 == calls.size();
    calls[i].url = calls[i].name = is_last ? keys : held;
    calls[i].host = &host;
    calls[i].reply = &replies[i];
    calls[i].reply_max = 100;
    calls[i].stop = stop.get_token();
    calls[i].waits_for_room = !is_last;
    driver.add(calls[i]);
  }
  while (!calls.back().progress.ended) driver.advance();  // if it waits, the watchdog ends the test
  EXPECT_FALSE(calls.back().error);
  EXPECT_EQ(replies.back(), "content");
  EXPECT_EQ(counters.read().requests, 2) << "the second of the others waits";
  stop.request_stop();
  while (!driver.idle()) driver.advance();
}

}  // namespace
}  // namespace stoker
