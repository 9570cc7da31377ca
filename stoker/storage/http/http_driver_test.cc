// How the driver divides its thread's time between calls.
#include "stoker/storage/http/http_driver.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

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

}  // namespace
}  // namespace stoker
