// The index.json of a folder of MDS shards: which shards there are, in their order. A merged one lists those of the
// folders below it.
#pragma once

#include <string_view>
#include <vector>

#include "stoker/storage/stores.h"

namespace stoker {

inline constexpr std::string_view kMdsListName = "index.json";

/// The shards that the folder's index.json lists; none if there is no such file, or one that is not of MDS. Of a shard
/// that is listed with and without compression the one that is there. Throws kData, naming the file and the shard, if a
/// list of MDS shards is damaged, or a shard's size is not what it says; kNotFound for a shard that is not there.
std::vector<Location> listed_mds_shards(const Stores& stores, const Location& folder);

}  // namespace stoker
