// Folders of tables as Hugging Face's `datasets` makes them: what save_to_disk() wrote, and a data set in its cache. Of
// the JSON files that it puts beside tables,
//
//   state.json          lists the tables of the folder: {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
//   dataset_dict.json   lists the folders of splits: {"splits": ["train", "test"]}
//   dataset_info.json   names, in the cache, the splits whose tables lie side by side: {"splits": {"train": {}}}
#pragma once

#include <string_view>
#include <vector>

#include "stoker/storage/stores.h"

namespace stoker {

bool is_huggingface_list_name(std::string_view name);

/// The tables that the folder's lists name; none without such a list. Throws kUsage naming the splits where there are
/// several, kNotFound for a table that is not there, kData naming the list for one that leads out of the folder.
std::vector<Location> listed_huggingface_tables(const Stores& stores, const Location& folder);

}  // namespace stoker
