// The lists of a folder of Hugging Face's tables.
#include <memory>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/format/arrow/huggingface_folder.h"
#include "stoker/storage/memory_store_testing.h"

namespace stoker {
namespace {

void run(Bytes input) {
  const Location folder("mem://data");
  for (const char* list : {"state.json", "dataset_dict.json", "dataset_info.json"}) {
    const auto store = std::make_shared<MemoryStore>();
    store->write(folder / list, as_text(input));
    store->write(folder / "data-00000-of-00001.arrow", "0123456789");
    store->write(folder / "set-train.arrow", "01234");
    store->write(folder / "set-test-00000-of-00001.arrow", "01234");
    Stores stores;
    stores.add(store);
    std::vector<Location> listed;
    const auto find = [&] { listed = listed_huggingface_tables(stores, folder); };
    if (!accepts({ErrorKind::kData, ErrorKind::kNotFound, ErrorKind::kUsage}, find)) continue;
    for (const Location& table : listed) require_that(stores.find(table).has_value(), "a listed table is there");
    const std::vector<Location> first = listed;
    require_that(accepts({}, find) && listed == first, "a list says the same again");
  }
}

const AnnounceFuzzTarget kTarget({.name = "huggingface_folder", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
