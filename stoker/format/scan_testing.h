// What a scan found, as text.
#pragma once

#include <string>
#include <vector>

#include "stoker/format/shard_format.h"

namespace stoker {

/// "key label field=content ..." of each sample.
std::vector<std::string> scan_listing(ShardScan& scan, ShardNotes* notes = nullptr);

}  // namespace stoker
