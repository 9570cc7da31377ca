// Checks whether a shard is still the one that the manifest beside it lists. Another shard may hold a sample twice, or
// other samples, without any of its own checksums showing that.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "stoker/format/manifest/manifest.h"
#include "stoker/storage/kept_end.h"

namespace stoker {

/// Each returns what contradicts the manifest, as a sentence that names the shard and what can be done, or nothing.

std::string contradiction_of_size(const ManifestShard& listed, const std::string& shard, std::uint64_t bytes);
/// Of the size, and of the index that `pack` put inside, by which all that was packed is known. Throws what reading
/// throws.
std::string contradiction_of_bytes(const ManifestShard& listed, const KeptEnd& shard);
/// The same of the file at a place, whose absence, and what else reading it throws, contradicts the manifest, too; and
/// so does the absence of a file that belongs to it.
std::string contradiction_of_file(const ManifestShard& listed, const Stores& stores, const Location& shard);

/// Of a file beside the shard that is not there.
std::string missing_beside(const ManifestShard& listed, const Stores& stores, const Location& shard);

/// Of a file that a manifest lists beside its shards, in its folder: of its absence, and of every byte.
/// Throws kClosed when asked to `stop`.
std::string contradiction_of_file(const ManifestFile& listed, const Stores& stores, const Location& folder,
                                  const std::stop_token& stop = {});

/// Of keys, labels, order and sizes: by the fingerprint of the samples that were found, and the bytes of their fields.
std::string contradiction_of_samples(const ManifestShard& listed, const std::string& shard, const Fingerprint& found,
                                     std::uint64_t sample_bytes);

}  // namespace stoker
