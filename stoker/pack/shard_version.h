// Tells whether a shard is still the one that a job looked at: where the bytes lie does not count, so that machines
// with copies of one shard, of the same times, agree.
#pragma once

#include <stop_token>
#include <string>

#include "stoker/format/open/find_shards.h"

namespace stoker {

/// A text that changes when the shard does: from the size of its file and the time of its change, or the tag that its
/// store keeps of it; for a folder or a list from those of all files that hold samples, and their names. Throws
/// kNotFound and kIo, and kClosed when asked to stop. Opens a folder, and looks at each of its files.
std::string shard_version(const FoundShard& shard, const Stores& stores, const std::stop_token& stop = {});

}  // namespace stoker
