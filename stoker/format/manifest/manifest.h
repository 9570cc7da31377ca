// The list of a packed data set's shards, "manifest.json" beside them: with it a data set with any number of shards
// opens without touching them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/format/fingerprint.h"
#include "stoker/storage/stores.h"

namespace stoker {

inline constexpr std::string_view kManifestName = "manifest.json";

/// What `pack` has done so far lies beside the shards until the manifest takes its place.
inline constexpr std::string_view kJournalName = ".stoker-pack";

/// Of a file directly in a folder: it leads nowhere else.
bool is_plain_name(std::string_view name);

struct ManifestShard {
  std::string name;  // of the file, in the manifest's folder
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;  // XXH3-64 of the whole file
  std::int64_t samples = 0;
  std::uint64_t sample_bytes = 0;  // of all fields
  Fingerprint fingerprint;
  std::optional<std::uint64_t> index_tag{};  // of the index inside, see tag_of_index_inside(); not every pack says
  std::vector<std::string> beside{};         // names of other files that belong to it, in the same folder: its index
};

/// A file that belongs to all shards, in the manifest's folder: a list of them for other readers.
struct ManifestFile {
  std::string name;
  std::uint64_t hash = 0;  // XXH3-64 of the whole file
};

/// A sample of the source that was bad when it was packed. Where the source lies is not said: a pack depends on what is
/// packed alone.
struct ManifestBad {
  std::int64_t sample = 0;  // its number in the source
  std::string key, reason;
};

/// Of a pack of tokens, which has no shards: its files are all that it holds.
struct ManifestTokens {
  std::int64_t documents = 0, tokens = 0, words = 0, unknown = 0;  // words: of the vocabulary
};

struct Manifest {
  std::vector<ManifestShard> shards;
  std::vector<std::string> fields;
  std::vector<std::string> classes;
  std::vector<ManifestBad> bad{};     // left out, or kept as they are; by their numbers
  std::int64_t concealed = 0;         // images with damaged parts, which decoders conceal
  std::vector<ManifestFile> files{};  // which only some formats have
  std::optional<ManifestTokens> tokens{};
  std::string job;  // what tells whether a later call would pack the same

  const ManifestShard* find(std::string_view name) const;

  /// JSON, the same for the same contents, with a checksum in it.
  std::string to_json() const;
  /// Throws kData, naming `path`, for what is not a manifest, is damaged, or is of another version.
  static Manifest from_json(std::string_view text, const std::string& path);
  /// The manifest in a folder; nullopt without one, and for a file of that name that is nothing of ours. Throws kIo,
  /// kData.
  static std::optional<Manifest> read(const Stores& stores, const Location& folder);
};

}  // namespace stoker
