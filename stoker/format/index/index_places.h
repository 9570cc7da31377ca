// The places where the index of a shard may be, and the choice among the indexes found.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "stoker/format/index/shard_index.h"
#include "stoker/storage/kept_end.h"
#include "stoker/storage/source.h"
#include "stoker/storage/stores.h"

namespace stoker {

struct IndexOptions {
  bool use = true;          // otherwise every shard is scanned, and nothing is kept
  Location folder{};        // where to look first; empty: nowhere
  Location cache_folder{};  // the user's cache, where what a scan found is kept; empty: nowhere
  std::string images{};     // of the samples that are meant, in a file that holds several sets of them
};

/// Whether an index in a file of its own is compared with the shard's bytes, by some seventy small reads.
enum class ContentCheck {
  kMade,
  // A manifest lists the shard's size, and the samples that the index must have: it needs no other proof. What was
  // changed in place the checksums of samples find.
  kLeftToChecksums,
};

/// "train-003.tar.sidx", beside the shard.
Location index_beside(const Location& shard);
/// The same name in another folder.
Location index_in_folder(const Location& folder, const Location& shard);
/// In the user's cache, where it is named by what the shard holds, and by which object it is and when that was changed:
/// what is kept there has no checksums, and must never be of an earlier state. Throws what reading throws.
Location index_in_cache(const Location& cache_folder, Source& shard, const ObjectFacts& facts);

/// The member of a tar that holds its index.
inline constexpr std::string_view kIndexMember = "__stoker__/index";

/// The index in a file of its own, if it is one and describes this very shard. Otherwise nothing, and `why` says why,
/// as a sentence that names the file.
std::optional<IndexPlace> index_in_file(Source& shard, const KeptEnd& end, std::string& why,
                                        ContentCheck check = ContentCheck::kMade);
/// The index that a tar holds as its last member. Without one, nothing and an empty `why`.
std::optional<IndexPlace> index_in_shard(const KeptEnd& end, std::string& why);
/// The XXH3-64 of the bytes where the trailer of such an index stands: they hash its directory, which hashes every
/// block, and the samples before it. Whether they are a trailer is not asked. Nothing of a shard that is too short.
std::optional<std::uint64_t> tag_of_index_inside(const KeptEnd& shard);

/// The index that counts: the first of those in `options.folder`, beside the shard, inside it, that is whole and
/// describes this shard. Null when there is none. Adds a sentence to `problems` for each that is damaged or another's.
/// `check`: of the one beside it.
std::unique_ptr<ShardIndex> find_index(const KeptEnd& shard, const Location& location, const IndexOptions& options,
                                       const Stores& stores, const std::shared_ptr<IndexCache>& cache,
                                       std::vector<std::string>& problems, ContentCheck check = ContentCheck::kMade);

/// What a scan of the shard kept at `kept`, in the user's cache; the same holds for it.
std::unique_ptr<ShardIndex> find_kept_scan(Source& shard, const Location& kept, const Stores& stores,
                                           const std::shared_ptr<IndexCache>& cache,
                                           std::vector<std::string>& problems);

/// Keeps what scanning a shard found; a cache that cannot be written is logged and done without.
void keep_scan(Source& shard, const ShardRows& rows, const BlockTable* blocks, std::span<const std::string> classes,
               const Location& kept, const Stores& stores);

}  // namespace stoker
