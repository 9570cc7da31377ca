// Files that were compressed as a whole, for formats that read such a file as one block.
#pragma once

#include <optional>
#include <string_view>

#include "stoker/storage/block_codec.h"
#include "stoker/storage/source.h"

namespace stoker {

/// The endings that names of such files have: ".zstd", ".gz". Those that can be read come first.
struct CompressedEnding {
  std::string_view ending;
  std::optional<BlockCodec> codec;  // nothing for one that cannot be read
};

/// The ending of that name (in lower case); null if it has none of them.
const CompressedEnding* compressed_ending(std::string_view name);

/// By its first bytes, whatever its name: zstd or gzip.
std::optional<BlockCodec> whole_file_codec(Bytes beginning);

/// The size of the content of a zstd frame that begins so; nothing where its writer did not know it, or left it out.
std::optional<std::uint64_t> zstd_content_bytes(Bytes head);

/// The file as one block; nothing for one that is not compressed. Throws kData naming the file if it is compressed
/// otherwise than Stoker reads, or does not say how long what it holds is.
std::optional<CompressedBlock> compressed_file(Source& file);

}  // namespace stoker
