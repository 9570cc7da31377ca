// The index.json of a folder of MDS shards.
#include <memory>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/format/mds/mds_folder.h"
#include "stoker/storage/memory_store_testing.h"

namespace stoker {
namespace {

void run(Bytes input) {
  const auto store = std::make_shared<MemoryStore>();
  const Location folder("mem://data");
  store->write(folder / "index.json", as_text(input));
  store->write(folder / "shard.00000.mds", "0123456789");
  store->write(folder / "below/shard.00001.mds.zstd", "01234");
  Stores stores;
  stores.add(store);
  std::vector<Location> listed;
  const auto list = [&] { listed = listed_mds_shards(stores, folder); };
  if (!accepts({ErrorKind::kData, ErrorKind::kNotFound}, list)) return;
  for (const Location& shard : listed) require_that(stores.find(shard).has_value(), "a listed shard is there");
  const std::vector<Location> first = listed;
  require_that(accepts({}, list) && listed == first, "a list says the same again");
}

const AnnounceFuzzTarget kTarget({.name = "mds_index", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
