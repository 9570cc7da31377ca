// Compressed blocks for tests.
#pragma once

#include <zstd.h>

#include <memory>
#include <string>
#include <vector>

#include "stoker/storage/block_source.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {

inline std::vector<std::uint8_t> compressed_by_zstd(Bytes bytes) {
  std::vector<std::uint8_t> out(ZSTD_compressBound(bytes.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1));
  return out;
}

/// An object made of compressed blocks, one after another, after some bytes of its own.
struct ObjectOfBlocks {
  std::vector<std::uint8_t> bytes{'o', 'w', 'n'};
  std::vector<CompressedBlock> blocks{};

  void add(Bytes content) {
    const std::vector<std::uint8_t> stored = compressed_by_zstd(content);
    blocks.push_back(
        {.offset = bytes.size(), .stored_length = stored.size(), .length = content.size(), .codec = BlockCodec::kZstd});
    bytes.insert(bytes.end(), stored.begin(), stored.end());
  }
  std::shared_ptr<const BlockTable> table() const {
    auto made = std::make_shared<BlockTable>(bytes.size());
    for (const CompressedBlock& block : blocks) made->add(block);
    made->close();
    return made;
  }
  std::shared_ptr<Source> source() const { return std::make_shared<MemorySource>("file.of.blocks", bytes); }
};

/// Of blocks with more than kGapBytes between them: where the first begins.
inline std::uint64_t first_place(std::uint64_t object_bytes) { return object_bytes + BlockTable::kGapBytes; }

}  // namespace stoker
