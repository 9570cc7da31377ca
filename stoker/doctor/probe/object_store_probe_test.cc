#include "stoker/doctor/probe/object_store_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <string>

#include "stoker/pack/synth/synth.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/open.h"
#include "stoker/storage/http/http_server_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// A tar of small images.
std::string tar_of_images() {
  const TempFolder folder;
  const std::string path = folder.path("a.tar");
  synthesize(path, {.kind = SynthKind::kTiny, .format = SynthFormat::kTar, .count = 40, .classes = 2, .threads = 1});
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The tar is all that the server has.
HttpServer::Reply answer(const HttpServer::Asked& asked, const std::string& content) {
  return asked.target == "/a.tar" ? HttpServer::serve(asked, content) : HttpServer::status(404);
}

std::shared_ptr<const Dataset> open_at(const HttpServer& server) {
  return open(server.url("/a.tar"), {}, {.use_indexes = false});
}

TEST(ObjectStoreProbe, MeasuresAServer) {
  const std::string content = tar_of_images();
  const HttpServer server([&](const HttpServer::Asked& asked) { return answer(asked, content); });
  std::vector<std::string> doubts;
  const auto facts = probe_object_store(*open_at(server), {.quick = true}, doubts);
  ASSERT_TRUE(facts);
  EXPECT_GT(facts->first_byte_s.median, 0);
  EXPECT_GE(facts->first_byte_s_p99, facts->first_byte_s.median);
  EXPECT_GT(facts->connection_bytes_per_s.median, 0);
  EXPECT_GT(facts->link_bytes_per_s.median, 0);
  EXPECT_GT(facts->requests_per_s.median, 0);
  EXPECT_GT(facts->cpu_s_per_request.median, 0);
  EXPECT_GT(facts->cpu_s_per_byte.median, 0);
  EXPECT_LT(facts->cpu_s_per_byte.median, facts->cpu_s_per_request.median);
  EXPECT_FALSE(facts->throttled);
  EXPECT_TRUE(doubts.empty());
}

TEST(ObjectStoreProbe, SaysThatAServerRefusesRequests) {
  const std::string content = tar_of_images();
  std::atomic<int> ranges = 0;
  const HttpServer server([&](const HttpServer::Asked& asked) {
    constexpr int kOneIn = 100;  // that are few enough to be asked for again
    const bool refuses = asked.range() && ++ranges % kOneIn == 0;
    return refuses ? HttpServer::status(503, "Retry-After: 0\r\n") : answer(asked, content);
  });
  std::vector<std::string> doubts;
  const auto facts = probe_object_store(*open_at(server), {.quick = true}, doubts);
  ASSERT_TRUE(facts);
  EXPECT_TRUE(facts->throttled);
  EXPECT_THAT(facts->requests_per_s.caveat, HasSubstr("refused"));
  EXPECT_THAT(doubts, Contains(HasSubstr("the store refused requests as too many")));
}

TEST(ObjectStoreProbe, HasNothingToSayOfLocalData) {
  std::vector<std::string> doubts;
  EXPECT_FALSE(probe_object_store(*memory_dataset({.tiny = true}).dataset, {.quick = true}, doubts));
}

}  // namespace
}  // namespace stoker
