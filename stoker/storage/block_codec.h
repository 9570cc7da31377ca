// Codecs of compressed blocks: runs of bytes of a shard, such as a page of Parquet or a member of a zip, that are
// compressed by themselves and hold one value or many.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"

namespace stoker {

/// The numbers are those of the index.
enum class BlockCodec : std::uint8_t {
  kStored = 0,   // as it is
  kDeflate = 1,  // without a header, as in zip
  kZlib = 2,
  kGzip = 3,  // one member
  kZstd = 4,  // one frame or several
  kSnappy = 5,
  kLz4 = 6,  // one block without a frame
};

inline constexpr std::uint64_t kBlockCodecs = 7;

/// "zstd"
std::string_view block_codec_name(BlockCodec codec);

/// A compressed block: where it lies in its object, and what it becomes.
struct CompressedBlock {
  std::uint64_t offset = 0;         // in the object
  std::uint64_t stored_length = 0;  // there
  std::uint64_t length = 0;         // decompressed
  BlockCodec codec = BlockCodec::kStored;

  bool operator==(const CompressedBlock&) const = default;
};

/// No block may become larger, so that a lying header cannot take all memory.
inline constexpr std::uint64_t kBlockBytesMax = std::uint64_t{1} << 30;

/// Fills `into` with what `stored` holds. Throws kData with a reason, for a sentence that names the block ("its zstd
/// data are damaged"), unless that has exactly the length of `into`. Never takes more memory than a small multiple of
/// both. Threads: any.
void decompress(BlockCodec codec, Bytes stored, MutableBytes into);

/// The same into memory of its own. Throws kData also if `length` exceeds kBlockBytesMax.
std::vector<std::uint8_t> decompressed(BlockCodec codec, Bytes stored, std::uint64_t length);

}  // namespace stoker
