// How many round trips to a store far away a packed data set takes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/crc32c.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/log_testing.h"
#include "stoker/base/watchdog_testing.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar/tar_shard_writer.h"
#include "stoker/storage/s3/s3_server_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// Answers no request of a round before all of the round have come.
class Rounds {
 public:
  explicit Rounds(std::vector<std::size_t> sizes) : sizes_(std::move(sizes)) {}

  void arrive() {
    std::unique_lock lock(mutex_);
    if (begun_ == sizes_.size()) return;  // what comes after them is answered at once
    const std::size_t round = begun_;
    if (++came_ == sizes_[round]) {
      came_ = 0;
      ++begun_;
      all_came_.notify_all();
    }
    all_came_.wait(lock, [&] { return begun_ > round; });
  }

 private:
  const std::vector<std::size_t> sizes_;
  std::mutex mutex_;
  std::condition_variable all_came_;
  std::size_t begun_ = 0, came_ = 0;
};

class DistantPack : public ::testing::Test {
 protected:
  DistantPack() {
    stores_.add(s3_store(server_));
    Manifest manifest;
    manifest.fields = {"jpg"};
    for (const char* key : {"a", "b", "c"}) manifest.shards.push_back(pack(key));
    put_whole(stores_, "s3://bucket/packed/manifest.json", as_bytes(manifest.to_json()));
    open_anew();
  }

  /// A shard of one sample, with its index inside.
  ManifestShard pack(const std::string& key) {
    IndexWriter index;
    PackContents contents;
    SampleRow row;
    row.key = key;
    row.fields = {{.name = "jpg", .part = {}, .length = key.size(), .crc32c = crc32c(as_bytes(key))}};
    contents.add(row);
    const std::string name = fmt::format("shard-{}.tar", key);
    const auto writer = TarWriting().begin(stores_, Location("s3://bucket/packed") / name, index, contents);
    const Bytes field = as_bytes(key);
    writer->add(row, std::span(&field, 1), {});
    const FinishedShard shard = writer->finish();
    return {.name = name,
            .bytes = shard.bytes,
            .hash = shard.hash,
            .samples = index.samples(),
            .sample_bytes = index.sample_bytes(),
            .fingerprint = index.fingerprint(),
            .index_tag = shard.index_tag};
  }
  /// As another process does, which remembers nothing.
  void open_anew() { stores_ = Stores().add(s3_store(server_)); }
  void answer_in(std::vector<std::size_t> rounds) {
    const auto all = std::make_shared<Rounds>(std::move(rounds));
    server_.meddle([all](const S3Server::Asked&) -> std::optional<HttpServer::Reply> {
      all->arrive();
      return std::nullopt;
    });
  }
  std::vector<std::string> requests_since(std::size_t before) const {
    std::vector<std::string> requests = server_.requests();
    requests.erase(requests.begin(), requests.begin() + static_cast<std::ptrdiff_t>(before));
    return requests;
  }

  S3Server server_;
  Stores stores_;
};

TEST_F(DistantPack, IsReadyToReadAfterTwoRoundTrips) {
  struct Case {
    const char* data;
    std::size_t first_round;
  };
  for (const Case& one : {Case{"s3://bucket/packed/", 2}, Case{"s3://bucket/packed", 3}}) {
    const Watchdog watchdog;
    open_anew();
    const std::size_t before = server_.requests().size();
    answer_in({one.first_round, 3});
    const auto data = open_dataset({one.data}, stores_);
    EXPECT_EQ(requests_since(before).size(), one.first_round) << "the folder and the manifest";
    data->prepare(std::vector<std::int64_t>{0, 1, 2});
    std::vector<std::string> keys;
    for (std::int64_t i = 0; i < 3; ++i) keys.push_back(data->row(i).key);
    EXPECT_THAT(keys, ElementsAre("a", "b", "c"));
    EXPECT_EQ(requests_since(before).size(), one.first_round + 3) << "the ends of three shards";
  }
}

TEST_F(DistantPack, IsComparedWithTheManifestThatWasFetchedBesideTheListing) {
  server_.put("packed/shard-b.tar", "shorter");
  EXPECT_THAT(error_of([&] { open_dataset({"s3://bucket/packed/"}, stores_); }).message(),
              HasSubstr("the manifest beside it lists"));
}

TEST_F(DistantPack, IsOpenedByItsShardsWhereTheManifestMayNotBeRead) {
  const LogCapture log;
  server_.meddle([](const S3Server::Asked& asked) -> std::optional<HttpServer::Reply> {
    if (asked.key != "packed/manifest.json") return std::nullopt;
    return S3Server::refusal(403, "AccessDenied");
  });
  EXPECT_EQ(open_dataset({"s3://bucket/packed/"}, stores_)->size(), 3);
  EXPECT_THAT(log.lines, ElementsAre(AllOf(HasSubstr("'s3://bucket/packed/manifest.json'"), HasSubstr("denied"),
                                           HasSubstr("its shards are opened one by one"))));
}

TEST_F(DistantPack, WithoutAManifestTakesOneRequestMoreAndNoTimeForIt) {
  const Watchdog watchdog;
  for (const char* key : {"a", "b", "c"}) {
    const std::string name = fmt::format("shard-{}.tar", key);
    server_.put("bare/" + name, *server_.get("packed/" + name));
  }
  const std::size_t before = server_.requests().size();
  answer_in({2});
  EXPECT_EQ(open_dataset({"s3://bucket/bare/"}, stores_)->size(), 3);
  std::vector<std::string> requests = requests_since(before);
  std::erase_if(requests, [](const std::string& one) { return one.find(".tar") != std::string::npos; });
  EXPECT_THAT(requests,
              ::testing::UnorderedElementsAre("GET bucket/ delimiter encoding-type list-type max-keys prefix",
                                              "GET bucket/bare/manifest.json",
                                              "GET bucket/ delimiter encoding-type list-type max-keys prefix"))
      << "the folder is listed again for its tars";
}

TEST_F(DistantPack, GivenByTheNamesOfItsShardsIsNoFolder) {
  const std::size_t before = server_.requests().size();
  open_dataset({"s3://bucket/packed/shard-{a,b}.tar"}, stores_);
  std::vector<std::string> requests = requests_since(before);
  std::erase_if(requests, [](const std::string& one) { return one.find("manifest") == std::string::npos; });
  EXPECT_EQ(requests.size(), 2u) << "it is examined and read";
}

}  // namespace
}  // namespace stoker
