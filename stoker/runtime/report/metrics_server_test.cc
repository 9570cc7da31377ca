#include "stoker/runtime/report/metrics_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "stoker/base/child_testing.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/watchdog_testing.h"
#include "stoker/runtime/living_child_testing.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/posix_file.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const MetricsAddress kAnyPort{"127.0.0.1", 0};

FileDescriptor connect_to(const std::string& address) {
  const MetricsAddress parsed = parse_metrics_address(address);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(parsed.port));
  ::inet_pton(AF_INET, parsed.host.c_str(), &to.sin_addr);
  FileDescriptor connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) return connection;
  return FileDescriptor();
}

/// A server's answer; empty if there is no server.
std::string get(const std::string& address, const std::string& path = "/metrics") {
  const FileDescriptor connection = connect_to(address);
  if (!connection) return {};
  const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
  if (::send(connection.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return {};
  std::string answer;
  char buffer[4096];
  for (ssize_t got; (got = ::read(connection.get(), buffer, sizeof(buffer))) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  return answer;
}

Metrics with_samples(std::int64_t samples) {
  Metrics metrics;
  metrics[Metric::kSamples] = samples;
  return metrics;
}

TEST(MetricsAddress, IsAPortOrAnIpAddressWithOne) {
  EXPECT_EQ(parse_metrics_address("9100").text(), "127.0.0.1:9100");
  EXPECT_EQ(parse_metrics_address("0").text(), "127.0.0.1:0");
  EXPECT_EQ(parse_metrics_address("localhost:65535").text(), "127.0.0.1:65535");
  EXPECT_EQ(parse_metrics_address("0.0.0.0:1").text(), "0.0.0.0:1");
  EXPECT_EQ(parse_metrics_address("[::1]:80").text(), "[::1]:80");
}

TEST(MetricsAddress, IsRefusedInASentence) {
  for (const char* const wrong : {"",
                                  ":",
                                  "port",
                                  "65536",
                                  "-1",
                                  "-0",
                                  "+1",
                                  "9100 ",
                                  "99999999999",
                                  ":9100",
                                  "1.2.3:1",
                                  "127.0.0.1:",
                                  "::1:80",
                                  "[::1]",
                                  "[::1",
                                  "[]:1",
                                  "example.org:80",
                                  "127.0.0.1:9100s",
                                  "9100,9101",
                                  "127.0.0.1:80,90"}) {
    const Error error = error_of([&] { parse_metrics_address(wrong); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << wrong;
    EXPECT_THAT(error.message(), HasSubstr("is not an address to serve at")) << wrong;
  }
}

TEST(ServedMetrics, AreThereAsLongAsTheirLoaders) {
  std::optional<ServedMetrics> first;
  first.emplace(kAnyPort, "", 3, [] { return with_samples(11); });
  const std::string address = first->address();
  EXPECT_THAT(address, AllOf(StartsWith("127.0.0.1:"), Not(testing::EndsWith(":0"))));
  EXPECT_THAT(get(address), AllOf(StartsWith("HTTP/1."), HasSubstr(" 200 OK"),
                                  HasSubstr("stoker_samples_total{loader=\"0\",rank=\"3\"} 11\n")));
  EXPECT_THAT(get(address, "/"), AllOf(HasSubstr(" 200 OK"), HasSubstr("text/html"), HasSubstr("</html>")));
  EXPECT_THAT(get(address, "/dashboard.json"), AllOf(HasSubstr("application/json"), HasSubstr("\"samples\":11,")));
  EXPECT_THAT(get(address, "/metrics/more"), HasSubstr(" 404 "));
  EXPECT_THAT(get(address, "/other"), HasSubstr(" 404 "));
  {
    const ServedMetrics second(parse_metrics_address(address), "", 0, [] { return with_samples(12); });
    const ServedMetrics named(parse_metrics_address(address), "validation", 0, [] { return with_samples(13); });
    EXPECT_THAT(get(address),
                AllOf(HasSubstr("{loader=\"0\",rank=\"3\"} 11\n"), HasSubstr("{loader=\"1\",rank=\"0\"} 12\n"),
                      HasSubstr("{loader=\"validation\",rank=\"0\"} 13\n")));
    const Error error =
        error_of([&] { ServedMetrics(parse_metrics_address(address), "validation", 1, [] { return Metrics(); }); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.message(), HasSubstr("'validation'"));
  }
  EXPECT_THAT(get(address), AllOf(HasSubstr("loader=\"0\""), Not(HasSubstr("loader=\"1\""))));
  first.reset();
  EXPECT_EQ(get(address), "") << "the server does not listen any more";
  first.emplace(parse_metrics_address(address), "", 0, [] { return with_samples(14); });
  EXPECT_THAT(get(address), HasSubstr("} 14\n"));
}

TEST(ServedMetrics, SayWhoHasTheAddress) {
  const FileDescriptor other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(at);
  ASSERT_EQ(::bind(other.get(), reinterpret_cast<const sockaddr*>(&at), size), 0);
  ASSERT_EQ(::listen(other.get(), 1), 0);
  ASSERT_EQ(::getsockname(other.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  const MetricsAddress taken{"127.0.0.1", ntohs(at.sin_port)};
  const Error error = error_of([&] { ServedMetrics(taken, "", 0, [] { return Metrics(); }); });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_THAT(error.message(), AllOf(HasSubstr(taken.text()), HasSubstr("in use"), HasSubstr("or 0 for one")));
}

TEST(ServedMetrics, AreNotReadOnceTheyAreGone) {
  Watchdog watchdog;
  const ServedMetrics stays(kAnyPort, "stays", 0, [] { return Metrics(); });
  std::atomic<bool> over = false;
  std::jthread scraper([&] {
    while (!over) EXPECT_THAT(get(stays.address()), HasSubstr("stays"));
  });
  for (int round = 0; round < 50; ++round) {
    auto alive = std::make_unique<std::atomic<int>>(0);
    std::optional<ServedMetrics> comes_and_goes;
    comes_and_goes.emplace(parse_metrics_address(stays.address()), "goes", 0,
                           [&counter = *alive] { return with_samples(++counter); });
    while (round % 10 == 0 && *alive == 0) std::this_thread::yield();
    comes_and_goes.reset();
    alive.reset();  // a sanitizer would report a read after this
  }
  over = true;
}

TEST(ServedMetrics, FreeTheirAddressThoughAForkedChildLivesOn) {
  for (const char* host : {"127.0.0.1", "[::1]"}) {
    SCOPED_TRACE(host);
    std::optional<ServedMetrics> served;
    try {
      served.emplace(MetricsAddress{host, 0}, "", 0, [] { return with_samples(7); });
    } catch (const Error& error) {
      ASSERT_STREQ(host, "[::1]");  // which not all machines have
      EXPECT_THAT(error.message(), ::testing::Not(::testing::HasSubstr("CivetServer"))) << "a name of the library's";
      continue;
    }
    const std::string address = served->address();
    const LivingChild child;
    ASSERT_TRUE(child.lives());
    const auto answers = [&] { return host[0] == '[' || get(address).find("} 7\n") != std::string::npos; };
    EXPECT_TRUE(answers()) << "as before";
    served.reset();
    const ServedMetrics later(parse_metrics_address(address), "", 0, [] { return with_samples(7); });
    EXPECT_EQ(later.address(), address);
    EXPECT_TRUE(answers());
  }
}

TEST(ServedMetrics, DoNothingInAForkedChild) {
  if (!kChildrenOfThreadsWork) GTEST_SKIP() << "a forked child of several threads may hang";
  std::optional<ServedMetrics> served;
  served.emplace(kAnyPort, "", 0, [] { return with_samples(5); });
  const int status = status_in_child([&] {
    served.reset();
    try {
      const ServedMetrics own(kAnyPort, "", 0, [] { return with_samples(6); });
      return get(own.address()).find("} 6\n") != std::string::npos ? 0 : 1;
    } catch (...) {
      return 2;
    }
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(get(served->address()), HasSubstr("} 5\n"));
}

TEST(ServedMetrics, AreALoadersAsLongAsItRuns) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(),
                {.batch = 10, .rank = 1, .world = 2, .metrics_address = "0", .name = "train", .epochs_end = 1});
  const std::string address = loader.metrics_address();
  audit_of(loader, 1);
  EXPECT_THAT(get(address), HasSubstr("stoker_samples_total{loader=\"train\",rank=\"1\"} 20\n"));
  Loader other(data.dataset, small_recipe(), {.batch = 10, .metrics_address = address});
  EXPECT_EQ(other.metrics_address(), address);
  EXPECT_EQ(Loader(data.dataset, small_recipe(), {.batch = 10}).metrics_address(), "");
  loader.close();
  EXPECT_EQ(loader.metrics_address(), "");
  EXPECT_THAT(get(address), AllOf(HasSubstr("loader=\"0\""), Not(HasSubstr("train"))));
}

TEST(ServedMetrics, OfALoaderThatNobodyCanReadAreRefused) {
  const MemoryDataset data = memory_dataset({.tiny = true});
  const auto refusal = [&](const LoaderOptions& options) {
    return error_of([&] { Loader(data.dataset, small_recipe(), options); });
  };
  EXPECT_EQ(refusal({.batch = 10, .metrics_address = "here"}).kind(), ErrorKind::kUsage);
  EXPECT_EQ(refusal({.batch = 10, .metrics_address = "192.0.2.1:9100"}).kind(), ErrorKind::kIo);
  EXPECT_EQ(refusal({.batch = 10, .name = "train"}).kind(), ErrorKind::kUsage);
}

}  // namespace
}  // namespace stoker
