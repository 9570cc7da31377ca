// Jobs over data that do not lie in files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/pack/data_info.h"
#include "stoker/pack/index_job.h"
#include "stoker/pack/pack_job.h"
#include "stoker/pack/pack_testing.h"
#include "stoker/pack/verify_job.h"
#include "stoker/storage/memory_store_testing.h"

namespace stoker {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A store that has a pack of twenty images, in "packed" of the folder, as "mem://data".
class PackInAStore : public ::testing::Test {
 protected:
  PackInAStore() {
    stores_.add(store_);
    pack({tiny_folder(folder_, 20, 2)}, folder_.path("packed"), {.shard_bytes = 20'000});
    for (const auto& [name, content] : files_below(folder_.path("packed"))) {
      store_->write(Location("mem://data") / name, content);
    }
  }

  const std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  Stores stores_;
  TempFolder folder_;
};

TEST_F(PackInAStore, IsIndexedVerifiedToldAndPackedAsFilesAre) {
  const DataInfo info = data_info({"mem://data"}, {.stores = stores_});
  EXPECT_EQ(info.samples, 20);
  EXPECT_GT(info.shards, 1);
  EXPECT_THAT(info.problems, IsEmpty());
  const VerifyResult sound = verify({"mem://data"}, {.stores = stores_});
  EXPECT_EQ(sound.samples, 20);
  EXPECT_THAT(sound.bad, IsEmpty());

  // The index inside a shard is enough; into a folder of its own each gets another.
  const IndexJobResult indexed = index_shards({"mem://data/*.tar"}, {.folder = "mem://indexes", .stores = stores_});
  EXPECT_EQ(indexed.shards, info.shards);
  EXPECT_THAT(store_->names(), Contains("mem://indexes/shard-000000.tar.sidx"));
  EXPECT_EQ(index_shards({"mem://data/*.tar"}, {.folder = "mem://indexes", .stores = stores_}).current, info.shards);

  pack({"mem://data"}, folder_.path("again"), {.shard_bytes = 20'000, .stores = stores_});
  EXPECT_EQ(read_file(folder_.path("again/shard-000000.tar")), read_file(folder_.path("packed/shard-000000.tar")));

  std::string shard = read_file(folder_.path("packed/shard-000000.tar"));
  shard[600] = static_cast<char>(shard[600] ^ 1);
  store_->write("mem://data/shard-000000.tar", shard);
  EXPECT_EQ(verify({"mem://data"}, {.stores = stores_}).bad.size(), 1u);
}

/// The objects of a pack in the store, and the files of one in a folder, by name.
std::map<std::string, std::string> objects_of(const Stores& stores, const MemoryStore& store, const Location& folder) {
  std::map<std::string, std::string> objects;
  for (const std::string& name : store.names()) {
    if (name.starts_with(folder.text() + "/")) objects[Location(name).name()] = read_whole(*stores.open(name));
  }
  return objects;
}

/// Gives a variable of the environment a value, or none, while it lives.
class Variable {
 public:
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name_, value->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

  const char* const name_;
  std::optional<std::string> before_;
};

TEST_F(PackInAStore, IsNotBadWhereTheStoreDoesNotGiveIt) {
  store_->refuse(
      [](const Location& at) {
        if (at.name() == "shard-000001.tar") fail(ErrorKind::kIo, "'{}' is refused", at);
      },
      false);
  EXPECT_EQ(error_of([&] { verify({"mem://data"}, {.stores = stores_}); }).kind(), ErrorKind::kIo);
  EXPECT_EQ(error_of([&] { data_info({"mem://data"}, {.stores = stores_}); }).kind(), ErrorKind::kIo);
}

TEST(JobsOverAStore, PackResumesAndWritesWhatItWritesToAFolder) {
  TempFolder folder;
  const Variable cache("STOKER_CACHE_DIR", folder.path("cache"));
  const auto store = std::make_shared<MemoryStore>();
  Stores stores;
  stores.add(store);
  const std::vector<std::string> data{tiny_folder(folder, 40, 2)};
  PackOptions options{.shard_bytes = 20'000, .threads = 1};
  pack(data, folder.path("packed"), options);
  const std::map<std::string, std::string> want = files_below(folder.path("packed"));

  options.stores = stores;
  std::stop_source stop;
  options.stop = stop.get_token();
  options.progress = [&](std::int64_t done, std::int64_t total) {
    if (2 * done >= total) stop.request_stop();
  };
  EXPECT_EQ(error_of([&] { pack(data, "mem://out/a", options); }).kind(), ErrorKind::kClosed);
  EXPECT_THAT(store->names(), Contains("mem://out/a/.stoker-pack"));
  EXPECT_THAT(store->names(), Not(Contains("mem://out/a/manifest.json")));

  options.stop = {};
  options.progress = {};
  PackOptions others = options;
  others.shard_bytes = 30'000;
  EXPECT_THAT(error_of([&] { pack(data, "mem://out/a", others); }).message(), HasSubstr("begun with other options"));
  const PackResult resumed = pack(data, "mem://out/a", options);
  EXPECT_GT(resumed.resumed, 0);
  EXPECT_LT(resumed.resumed, resumed.shards);
  EXPECT_EQ(objects_of(stores, *store, "mem://out/a"), want);
  EXPECT_EQ(pack(data, "mem://out/a", options).resumed, resumed.shards);

  // What was begun on another machine, or with another cache folder, begins again.
  store->write("mem://out/b/.stoker-pack", "");
  store->write("mem://out/b/shard-000000.tar", "of another machine");
  EXPECT_EQ(pack(data, "mem://out/b", options).resumed, 0);
  EXPECT_EQ(objects_of(stores, *store, "mem://out/b"), want);

  // A store that refuses the keys, or is not reached, tells nothing of the pack that was begun.
  stop = std::stop_source();
  options.stop = stop.get_token();
  options.progress = [&](std::int64_t done, std::int64_t total) {
    if (2 * done >= total) stop.request_stop();
  };
  EXPECT_EQ(error_of([&] { pack(data, "mem://out/c", options); }).kind(), ErrorKind::kClosed);
  options.stop = {};
  options.progress = {};
  const auto refuse = [](const Location& at) { fail(ErrorKind::kIo, "'{}' is refused", at); };
  store->refuse(refuse, true);
  EXPECT_EQ(error_of([&] { pack(data, "mem://out/c", options); }).kind(), ErrorKind::kIo);
  store->refuse(
      [&](const Location& at) {
        if (at.name() == "shard-000000.tar") refuse(at);
      },
      false);
  EXPECT_EQ(error_of([&] { pack(data, "mem://out/c", options); }).kind(), ErrorKind::kIo);
  store->refuse({}, false);
  EXPECT_GT(pack(data, "mem://out/c", options).resumed, 0);
  EXPECT_EQ(objects_of(stores, *store, "mem://out/c"), want);
  store->refuse(refuse, true);
  EXPECT_EQ(error_of([&] { pack(data, "mem://out/c", options); }).kind(), ErrorKind::kIo);
  store->refuse({}, false);

  const PackEstimate estimate = estimate_pack(data, "mem://out/e", options);
  EXPECT_EQ(estimate.samples, 40);
  EXPECT_FALSE(estimate.disk_free);
  const Variable none("STOKER_CACHE_DIR", {}), no_folder("XDG_CACHE_HOME", {}), no_home("HOME", {});
  EXPECT_THAT(error_of([&] { pack(data, "mem://out/d", options); }).message(), HasSubstr("set STOKER_CACHE_DIR"));
}

}  // namespace
}  // namespace stoker
