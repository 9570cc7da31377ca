// The compressed blocks of a shard as its index has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/storage/block_table.h"

namespace stoker {

/// Adds the table's blocks to `bytes`, and to `ends` where each block of the index ends.
void append_block_table(const BlockTable& table, std::vector<std::uint8_t>& bytes, std::vector<std::size_t>& ends);

/// Adds those of one block of the index; false if they are not what a writer writes.
bool read_block_table(Bytes bytes, BlockTable& into);

}  // namespace stoker
