// Data that do not lie in files: formats, lists, patterns, manifests and indexes find them through their store.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>

#include "stoker/base/crc32c.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/watchdog_testing.h"
#include "stoker/format/content_tag.h"
#include "stoker/format/dataset_views.h"
#include "stoker/format/index/index_places.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/memory_store_testing.h"
#include "stoker/storage/temp_folder_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DataInAStore : public ::testing::Test {
 protected:
  DataInAStore() { stores_.add(store_); }

  void write_tar(const Location& at, std::string_view key) {
    store_->write(
        at, tar_member(fmt::format("{}.jpg", key), key) + tar_member(fmt::format("{}.cls", key), "3") + tar_end());
  }
  /// A shard for each key, and the manifest that lists them.
  void write_packed(const std::vector<std::string>& keys) {
    Manifest manifest;
    manifest.fields = {"jpg", "cls"};
    for (const std::string& key : keys) {
      const std::string name = fmt::format("shard-{}.tar", key);
      const Location at = Location("mem://packed") / name;
      write_tar(at, key);
      const SampleTable table = scan_tar(*store_->open(at));
      manifest.shards.push_back({.name = name,
                                 .bytes = store_->find(at)->size,
                                 .samples = table.size(),
                                 .sample_bytes = table.bytes(),
                                 .fingerprint = table.fingerprint()});
    }
    put_whole(stores_, "mem://packed/manifest.json", as_bytes(manifest.to_json()));
  }
  void list_indexes_beside() {
    Manifest manifest = *Manifest::read(stores_, "mem://packed");
    for (ManifestShard& shard : manifest.shards) shard.beside = {shard.name + ".sidx"};
    put_whole(stores_, "mem://packed/manifest.json", as_bytes(manifest.to_json()));
  }
  std::shared_ptr<const Dataset> open(const std::vector<std::string>& data, const IndexOptions& options = {}) {
    return open_dataset(data, stores_, options);
  }
  /// "key label content" of each sample.
  static std::vector<std::string> samples(const Dataset& data) {
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < data.size(); ++i) {
      const SampleRow row = data.row(i);
      std::vector<std::uint8_t> content(row.image_field()->length);
      read_checked(row, *row.image_field(), content);
      all.push_back(fmt::format("{} {} {}", row.key, row.label, as_text(content)));
    }
    return all;
  }

  const std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  Stores stores_{std::make_shared<InlineExecutor>()};
};

TEST_F(DataInAStore, CountsTheTrafficOfEachStoreOnce) {
  write_tar("mem://data/a.tar", "a");
  write_tar("mem://data/b.tar", "b");
  TempFolder local;
  local.write("c.tar", tar_member("c.jpg", "c") + tar_member("c.cls", "3") + tar_end());
  const std::shared_ptr<const Dataset> remote = open({"mem://data/a.tar", "mem://data/b.tar"}),
                                       here = open({local.path("c.tar")});
  EXPECT_THAT(remote->meters(), ElementsAre(store_->meter()));
  EXPECT_THAT(here->meters(), ElementsAre());
  EXPECT_THAT(open({local.path("c.tar")}, {.folder = Location("mem://indexes")})->meters(),
              ElementsAre(store_->meter()));
  EXPECT_THAT(subset(remote, {1})->meters(), ElementsAre(store_->meter()));
  const std::shared_ptr<const Dataset> mixed = mix({remote, here, subset(remote, {0})}, {1, 1, 1});
  EXPECT_THAT(mixed->meters(), ElementsAre(store_->meter()));
  EXPECT_EQ(traffic_of(mixed->meters()).requests, 7);
}

TEST_F(DataInAStore, IsFoundByNamePatternFolderAndList) {
  write_tar("mem://data/a.tar", "a");
  write_tar("mem://data/b.tar", "b");
  write_tar("mem://data/nested/shard", "c");  // recognised by its content
  store_->write("mem://data/list.txt", "a.tar\n# not b\nmem://data/nested/shard\n");
  EXPECT_THAT(samples(*open({"mem://data/a.tar"})), ElementsAre("a 3 a"));
  EXPECT_THAT(samples(*open({"mem://data/*.tar"})), ElementsAre("a 3 a", "b 3 b"));
  EXPECT_THAT(samples(*open({"mem://data/{b,a}.tar"})), ElementsAre("b 3 b", "a 3 a"));
  EXPECT_THAT(samples(*open({"mem://data"})), ElementsAre("a 3 a", "b 3 b"));
  EXPECT_THAT(samples(*open({"mem://data/list.txt"})), ElementsAre("a 3 a", "c 3 c"));
  TempFolder folder;
  const std::string local = folder.write("local.tar", tar_member("l.jpg", "l") + tar_end());
  EXPECT_THAT(samples(*open({local, "mem://data/a.tar"})), ElementsAre("l -1 l", "a 3 a"));
}

TEST_F(DataInAStore, IsReadFromLooseObjectsToo) {
  for (const char* name : {"dog/1.jpg", "dog/more/2.png", "cat/1.jpg", "cat/1.json"}) {
    store_->write(Location("mem://loose") / name, name);
  }
  const auto data = open({"mem://loose"});
  EXPECT_THAT(data->classes(), ElementsAre("cat", "dog"));
  EXPECT_THAT(samples(*data), ElementsAre("cat/1 0 cat/1.jpg", "dog/1 1 dog/1.jpg", "dog/more/2 1 dog/more/2.png"));
  store_->write("mem://flat/x.jpg", "x");
  store_->write("mem://flat/x.cls", "7");
  EXPECT_THAT(samples(*open({"mem://flat"})), ElementsAre("x 7 x"));
}

TEST_F(DataInAStore, HasItsIndexBesideIt) {
  write_tar("mem://data/a.tar", "a");
  const std::shared_ptr<Source> shard = store_->open("mem://data/a.tar");
  SampleTable table = scan_tar(*shard);
  IndexWriter writer;
  SampleRow row;
  table.read(0, row);
  row.label = 12;  // tells which was used
  writer.add(row);
  put_whole(stores_, "mem://data/a.tar.sidx",
            writer.finish({.data_bytes = shard->size(), .content_tag = content_tag(*shard, shard->size())}));
  EXPECT_THAT(samples(*open({"mem://data/a.tar"})), ElementsAre("a 12 a"));
  EXPECT_THAT(samples(*open({"mem://data/a.tar"}, {.use = false})), ElementsAre("a 3 a"));
}

TEST_F(DataInAStore, KeepsWhatAScanFoundUntilTheObjectIsReplaced) {
  TempFolder cache;
  const IndexOptions options{.cache_folder = cache.path()};
  write_tar("mem://data/a.tar", "a");
  EXPECT_THAT(samples(*open({"mem://data/a.tar"}, options)), ElementsAre("a 3 a"));
  EXPECT_EQ(stores_.list(cache.path("index"))->size(), 1u);
  write_tar("mem://data/a.tar", "b");
  EXPECT_THAT(samples(*open({"mem://data/a.tar"}, options)), ElementsAre("b 3 b"));
  EXPECT_EQ(stores_.list(cache.path("index"))->size(), 2u);
}

TEST_F(DataInAStore, OpensByItsManifestWithoutItsShards) {
  write_packed({"a"});
  const int before = store_->opened();
  const auto data = open({"mem://packed"});
  EXPECT_EQ(data->size(), 1);
  EXPECT_EQ(store_->opened(), before + 1) << "the manifest";
  EXPECT_THAT(samples(*data), ElementsAre("a 3 a"));
}

// Seventy small reads of each shard would be as many requests.
TEST_F(DataInAStore, TrustsTheIndexOfADistantShardThatAManifestLists) {
  write_packed({"a"});
  const Location at = "mem://packed/shard-a.tar";
  const std::shared_ptr<Source> shard = store_->open(at);
  const SampleTable table = scan_tar(*shard);  // which the row has views of
  SampleRow row;
  table.read(0, row);
  for (SampleField& field : row.fields) {
    std::vector<std::uint8_t> content(field.length);
    read_fully(*shard, field.offset, content);
    field.crc32c = crc32c(content);
  }
  IndexWriter writer;
  writer.add(row);
  put_whole(stores_, index_beside(at),
            writer.finish({.data_bytes = shard->size(), .content_tag = content_tag(*shard, shard->size())}));
  std::string changed = read_whole(*shard);
  changed[512] = 'b';  // the image's only byte
  store_->write(at, changed);
  const auto read_image = [&] { samples(*open({"mem://packed"})); };
  EXPECT_NO_THROW(read_image()) << "it does not match, so that the shard is scanned";
  store_->move_away([](const Location&) {});
  EXPECT_NO_THROW(read_image()) << "the manifest does not list it";
  list_indexes_beside();
  EXPECT_EQ(error_of(read_image).kind(), ErrorKind::kBadSample) << "its checksums find what was changed";
}

// Opening a shard with an index beside it takes several answers in turn.
TEST_F(DataInAStore, OpensDistantShardsSideBySide) {
  constexpr std::size_t kShards = 5;
  write_packed({"a", "b", "c", "d", "e"});
  const auto opening = std::make_shared<ThreadExecutor>(static_cast<int>(kShards));
  const std::shared_ptr<const Dataset> data = open_dataset({"mem://packed"}, stores_, {}, {}, opening);
  std::mutex mutex;
  std::condition_variable came;
  std::set<std::string> looked_for;
  store_->move_away([&](const Location& at) {
    if (!at.text().ends_with(".sidx")) return;
    std::unique_lock lock(mutex);
    looked_for.insert(at.text());
    came.notify_all();
    came.wait(lock, [&] { return looked_for.size() == kShards; });
  });
  const Watchdog watchdog;
  data->prepare(std::vector<std::int64_t>{0, 1, 2, 3, 4});
  const int opened = store_->opened();
  EXPECT_THAT(samples(*data), ElementsAre("a 3 a", "b 3 b", "c 3 c", "d 3 d", "e 3 e"));
  EXPECT_EQ(store_->opened(), opened) << "they were open already";
}

TEST_F(DataInAStore, IsNamedWhereItIsNotThereOrBroken) {
  EXPECT_THAT(error_of([&] { open({"mem://none.tar"}); }).message(), HasSubstr("'mem://none.tar'"));
  EXPECT_THAT(error_of([&] { open({"mem://data/*.rec"}); }).message(), HasSubstr("no file matches 'mem://data/*.rec'"));
  store_->write("mem://data/a.tar", tar_member("a.jpg", "a"));
  EXPECT_THAT(error_of([&] { open({"mem://data/a.tar"}); }).message(),
              AllOf(HasSubstr("'mem://data/a.tar'"), HasSubstr("truncated")));
  store_->write("mem://data/program", std::string("MZ\x90\0\x03 and so on for long", 24));
  const Error strange = error_of([&] { open({"mem://data/program"}); });
  EXPECT_EQ(strange.kind(), ErrorKind::kData);
  EXPECT_THAT(strange.message(),
              AllOf(HasSubstr("'mem://data/program'"), HasSubstr("folder, tar, tfrecord, recordio, "),
                    HasSubstr(" or a text file of paths"),
                    HasSubstr("begins with the bytes 4d 5a 90 00 03 20 61 6e 64 20 73 6f 20 6f 6e 20"),
                    HasSubstr("(MZ... and so on )")));
  const Error unknown = error_of([&] { open({"s3://bucket/a.tar"}); });
  EXPECT_EQ(unknown.kind(), ErrorKind::kUsage);
  EXPECT_THAT(unknown.message(), HasSubstr("no store for 's3://'"));
}

TEST_F(DataInAStore, AreTheFilesThatAListNames) {
  store_->write("mem://set/n01/a.jpg", "pixels");
  store_->write("mem://set/list.csv", "path,label,text\nn01/a.jpg,7,\"say \"\"x\"\"\"\n");
  const auto data = open({"mem://set/list.csv"});
  EXPECT_EQ(samples(*data), std::vector<std::string>{"n01/a 7 pixels"});
  store_->write("mem://set/list.csv", "path,label\n../a.jpg,7\n");
  EXPECT_THAT(error_of([&] { open({"mem://set/list.csv"}); }).message(),
              HasSubstr("only lists on this machine may name files outside of their folder"));
}

}  // namespace
}  // namespace stoker
