// What stands in front of the samples of an MDS shard. Numbers are little-endian:
//
//   u32          number of samples, n
//   u32 * (n+1)  where in the shard each sample begins; the last is where the shard ends
//   JSON         the columns, and how the shard was written
//                samples; each is a u32 for each column whose values vary in size, the size; then the values
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/format/mds/mds_columns.h"
#include "stoker/storage/source.h"

namespace stoker {

inline constexpr std::uint64_t kMdsOffsetsAt = 4;
inline constexpr std::uint64_t kMdsDescriptionBytesMax = std::uint64_t{1} << 20;
inline constexpr std::size_t kMdsColumnsMax = 4096;

/// Where a shard's bytes lie in its source: all of it, or a block.
struct MdsPlace {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

struct MdsHeader {
  std::uint32_t samples = 0;
  std::uint64_t samples_at = 0;  // in the shard
  std::vector<MdsColumn> columns{};

  std::uint64_t offsets_end() const { return kMdsOffsetsAt + 4 * (std::uint64_t{samples} + 1); }
};

/// Throws kData naming the shard if it is damaged or truncated, and what reading throws.
MdsHeader read_mds_header(Source& source, const MdsPlace& place);

/// Whether a shard can begin so: by its first numbers and, if the beginning reaches that far, its description.
bool is_mds(Bytes beginning);

}  // namespace stoker
