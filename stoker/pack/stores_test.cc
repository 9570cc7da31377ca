// Jobs over data that do not lie in files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

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

TEST(JobsOverAStore, IndexVerifyTellAndPackAsOverFiles) {
  const auto store = std::make_shared<MemoryStore>();
  Stores stores;
  stores.add(store);
  TempFolder folder;
  pack({tiny_folder(folder, 20, 2)}, folder.path("packed"), {.shard_bytes = 20'000});
  for (const auto& file : std::filesystem::directory_iterator(folder.path("packed"))) {
    store->write(Location("mem://data") / file.path().filename().string(), read_file(file.path().string()));
  }

  const DataInfo info = data_info({"mem://data"}, {.stores = stores});
  EXPECT_EQ(info.samples, 20);
  EXPECT_GT(info.shards, 1);
  EXPECT_THAT(info.problems, IsEmpty());
  const VerifyResult sound = verify({"mem://data"}, {.stores = stores});
  EXPECT_EQ(sound.samples, 20);
  EXPECT_THAT(sound.bad, IsEmpty());

  // The index inside a shard is enough; into a folder of its own each gets another.
  const IndexJobResult indexed = index_shards({"mem://data/*.tar"}, {.folder = "mem://indexes", .stores = stores});
  EXPECT_EQ(indexed.shards, info.shards);
  EXPECT_THAT(store->names(), Contains("mem://indexes/shard-000000.tar.sidx"));
  EXPECT_EQ(index_shards({"mem://data/*.tar"}, {.folder = "mem://indexes", .stores = stores}).current, info.shards);

  pack({"mem://data"}, folder.path("again"), {.shard_bytes = 20'000, .stores = stores});
  EXPECT_EQ(read_file(folder.path("again/shard-000000.tar")), read_file(folder.path("packed/shard-000000.tar")));
  EXPECT_THAT(error_of([&] { pack({"mem://data"}, "mem://out", {.stores = stores}); }).message(),
              HasSubstr("not a folder of the local file system"));

  std::string shard = read_file(folder.path("packed/shard-000000.tar"));
  shard[600] = static_cast<char>(shard[600] ^ 1);
  store->write("mem://data/shard-000000.tar", shard);
  EXPECT_EQ(verify({"mem://data"}, {.stores = stores}).bad.size(), 1u);
}

}  // namespace
}  // namespace stoker
