// Codecs of compressed blocks: runs of bytes of a shard, such as a page of Parquet or a member of a zip, that are
// compressed by themselves and hold one value or many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  kLzf = 7,  // LibLZF's
  // HDF5's filter "shuffle" moved the bytes before they were compressed: the first bytes of all values stand first,
  // then their second bytes, and so on. The number is that of bytes in a value.
  kZlibShuffled2 = 8,
  kZlibShuffled4 = 9,
  kZlibShuffled8 = 10,
  kLzfShuffled2 = 11,
  kLzfShuffled4 = 12,
  kLzfShuffled8 = 13,
  kShuffled2 = 14,  // and not compressed
  kShuffled4 = 15,
  kShuffled8 = 16,
  kLz4Frame = 17,  // one frame
};

inline constexpr std::uint64_t kBlockCodecs = 18;

/// The codec of what was shuffled, as values of so many bytes, and then compressed by `codec`: itself for one byte.
/// Nothing if there is none.
std::optional<BlockCodec> shuffled_codec(BlockCodec codec, std::uint64_t value_bytes);

/// What a byte that the codec stored can become at most, rounded up: more is a lie.
std::uint64_t expansion_max(BlockCodec codec);

/// Puts bytes back that were shuffled as values of `value_bytes`; `into` has the same length. Bytes after the last
/// whole value stay where they are.
void unshuffle(Bytes shuffled, std::size_t value_bytes, MutableBytes into);

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
