// The frame of an index file: blocks, a directory of them by section, and a trailer that says where the directory is.
// docs/format-index.md has every byte.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/base/bytes.h"

namespace stoker {

inline constexpr std::string_view kIndexMagic = "StokerIx";  // first in the file, and first in its trailer
inline constexpr std::uint32_t kIndexVersion = 2;
inline constexpr std::size_t kIndexTrailerBytes = 128;
/// An index is padded to whole records of a tar, so that its trailer is found from the end of a tar that holds it.
inline constexpr std::size_t kIndexUnit = 512;
/// What reading one block may take; the writer keeps to it, too.
inline constexpr std::uint64_t kIndexBlockBytesMax = std::uint64_t{64} << 20;

/// Where one block lies in the index, and the XXH3-64 of its bytes.
struct IndexBlockPlace {
  std::uint64_t offset = 0, length = 0, hash = 0;
};

enum class IndexSectionKind : std::uint32_t {
  kFieldNames = 1,
  kRows = 2,
  kEntryPoints = 3,
  kCompressedBlocks = 4,
  kClassNames = 5
};

/// Sections have versions of their own: a reader passes over kinds and versions that it does not know.
struct IndexSection {
  IndexSectionKind kind;
  std::uint32_t version = 1;
  std::vector<IndexBlockPlace> blocks;
};

/// The shard that an index describes, and the index's own dimensions.
struct IndexTrailer {
  std::uint64_t index_bytes = 0;  // trailer and padding included
  std::uint64_t directory_offset = 0, directory_bytes = 0, directory_hash = 0;
  std::uint64_t data_bytes = 0;              // of the shard, from its beginning
  std::uint64_t content_tag = 0;             // see content_tag()
  std::optional<std::uint64_t> data_hash{};  // XXH3-64 of all data_bytes, known of shards that Stoker packed
  std::uint64_t samples = 0;
  std::uint64_t fingerprint = 0;   // see Fingerprint
  std::uint64_t sample_bytes = 0;  // of all fields
  bool has_checksums = false;      // every field's CRC-32C is known
  bool has_crc32 = false;          // else every field's CRC-32, as the shard itself has it
  bool was_decoded = false;        // every image's soundness is known
};

/// What the trailer's first bytes tell: an index that another version wrote is told apart from a damaged one.
enum class TrailerState { kGood, kNoIndex, kOtherVersion, kDamaged };

void append_trailer(std::vector<std::uint8_t>& index, IndexTrailer trailer);  // pads, and fills in index_bytes
TrailerState read_trailer(Bytes bytes, IndexTrailer& into);

void append_directory(std::vector<std::uint8_t>& index, const std::vector<IndexSection>& sections);
/// Throws kData unless the sections' blocks fill the index from the end of the magic to the directory without a gap.
std::vector<IndexSection> read_directory(Bytes bytes, std::uint64_t directory_offset);

}  // namespace stoker
