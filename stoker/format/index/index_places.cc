#include "stoker/format/index/index_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"
#include "stoker/format/content_tag.h"
#include "stoker/format/index/index_writer.h"

namespace stoker {
namespace {

constexpr std::size_t kTarEndBytes = 1024;  // two records of zeros
constexpr std::uint64_t kTarHeaderBytes = 512;

std::string make_anew(const std::string& shard) { return fmt::format("; `stoker index {}` rebuilds it", shard); }

/// Whether `trailer` is one, and what is to be said if not.
bool is_good(TrailerState state, const std::string& index, const std::string& shard, std::string& why) {
  if (state == TrailerState::kGood) return true;
  const std::string what =
      state == TrailerState::kNoIndex
          ? fmt::format("'{}' is not an index of Stoker", index)
          : fmt::format("the index in '{}' is {}", index,
                        state == TrailerState::kDamaged ? "damaged" : "of another version of Stoker");
  why = what + make_anew(shard);
  return false;
}

bool describes(Source& shard, const IndexTrailer& trailer, const std::string& index, std::string& why) {
  if (content_tag(shard, trailer.data_bytes) == trailer.content_tag) return true;
  why =
      fmt::format("the index in '{}' does not match '{}' as it is now{}", index, shard.name(), make_anew(shard.name()));
  return false;
}

/// The index that `look` finds. What stands in its way is told, and the next place can be tried.
template <typename Look>
std::unique_ptr<ShardIndex> attempt(const std::shared_ptr<IndexCache>& cache, std::vector<std::string>& problems,
                                    const Look& look) {
  std::string why;
  std::unique_ptr<ShardIndex> found;
  const std::optional<std::string> fault = fault_of_data([&] {
    if (std::optional<IndexPlace> place = look(why)) found = std::make_unique<ShardIndex>(std::move(*place), cache);
  });
  if (fault) why = *fault;
  if (!why.empty()) problems.push_back(why);
  return found;
}

std::unique_ptr<ShardIndex> index_at(Source& shard, const Location& file, const Stores& stores,
                                     const std::shared_ptr<IndexCache>& cache, std::vector<std::string>& problems,
                                     ContentCheck check = ContentCheck::kMade) {
  return attempt(cache, problems, [&](std::string& why) -> std::optional<IndexPlace> {
    if (!stores.find(file)) return std::nullopt;
    KeptEnd index(stores.open(file));
    index.fetch();
    return index_in_file(shard, index, why, check);
  });
}

}  // namespace

Location index_beside(const Location& shard) { return shard + ".sidx"; }

Location index_in_folder(const Location& folder, const Location& shard) { return folder / (shard.name() + ".sidx"); }

Location index_in_cache(const Location& cache_folder, Source& shard, const ObjectFacts& facts) {
  return cache_folder + fmt::format("/index/{}-{}.sidx", to_hex(content_tag(shard, shard.size())),
                                    to_hex(hash64(facts.strict_version())));
}

std::optional<IndexPlace> index_in_file(Source& shard, const KeptEnd& end, std::string& why, ContentCheck check) {
  const std::shared_ptr<Source>& index = end.source();
  const std::uint64_t size = index->size();
  std::array<std::uint8_t, kIndexTrailerBytes> bytes{};
  IndexPlace place{.source = index, .begin = 0, .trailer = {}, .end = end};
  const bool holds_one = size >= bytes.size();
  if (holds_one) end.read(size - bytes.size(), bytes);
  if (!is_good(read_trailer(bytes, place.trailer), index->name(), shard.name(), why)) return std::nullopt;
  if (place.trailer.index_bytes != size) {
    is_good(TrailerState::kDamaged, index->name(), shard.name(), why);
    return std::nullopt;
  }
  if (place.trailer.data_bytes != shard.size()) {
    why = fmt::format("the index in '{}' describes a shard of {}, but '{}' has {}{}", index->name(),
                      byte_count(place.trailer.data_bytes), shard.name(), shard.size(), make_anew(shard.name()));
    return std::nullopt;
  }
  const bool is_vouched_for = check == ContentCheck::kLeftToChecksums && place.trailer.has_checksums;
  if (!is_vouched_for && !describes(shard, place.trailer, index->name(), why)) return std::nullopt;
  return place;
}

std::optional<IndexPlace> index_in_shard(const KeptEnd& end, std::string& why) {
  const std::shared_ptr<Source>& shard = end.source();
  std::array<std::uint8_t, kIndexTrailerBytes + kTarEndBytes> last;
  const std::uint64_t size = shard->size();
  if (size < last.size()) return std::nullopt;
  end.read(size - last.size(), last);
  const Bytes mark = Bytes(last).subspan(kIndexTrailerBytes);
  if (std::any_of(mark.begin(), mark.end(), [](std::uint8_t byte) { return byte != 0; })) return std::nullopt;
  IndexPlace place{.source = shard, .begin = 0, .trailer = {}, .end = end};
  const TrailerState state = read_trailer(Bytes(last).first(kIndexTrailerBytes), place.trailer);
  if (state == TrailerState::kNoIndex || !is_good(state, shard->name(), shard->name(), why)) return std::nullopt;
  const IndexTrailer& trailer = place.trailer;
  const std::uint64_t rest = size - kTarEndBytes;
  if (rest < kTarHeaderBytes || trailer.index_bytes > rest - kTarHeaderBytes ||
      trailer.data_bytes != rest - kTarHeaderBytes - trailer.index_bytes) {
    why = fmt::format("the index in '{}' describes a shard of another size{}", shard->name(), make_anew(shard->name()));
    return std::nullopt;
  }
  // It cannot be of another shard; what was changed in place is damage, which its checksums find.
  place.begin = rest - trailer.index_bytes;
  return place;
}

std::optional<std::uint64_t> tag_of_index_inside(const KeptEnd& shard) {
  constexpr std::uint64_t kEnd = kIndexTrailerBytes + kTarEndBytes;
  const std::uint64_t size = shard.source()->size();
  if (size < kEnd) return std::nullopt;
  std::array<std::uint8_t, kIndexTrailerBytes> trailer;
  shard.read(size - kEnd, trailer);
  return hash64(trailer);
}

std::unique_ptr<ShardIndex> find_index(const KeptEnd& shard, const Location& location, const IndexOptions& options,
                                       const Stores& stores, const std::shared_ptr<IndexCache>& cache,
                                       std::vector<std::string>& problems, ContentCheck check) {
  std::unique_ptr<ShardIndex> found;
  if (!options.folder.empty()) {
    found = index_at(*shard.source(), index_in_folder(options.folder, location), stores, cache, problems);
  }
  if (!found) found = index_at(*shard.source(), index_beside(location), stores, cache, problems, check);
  if (!found) found = attempt(cache, problems, [&](std::string& why) { return index_in_shard(shard, why); });
  return found;
}

std::unique_ptr<ShardIndex> find_kept_scan(Source& shard, const Location& kept, const Stores& stores,
                                           const std::shared_ptr<IndexCache>& cache,
                                           std::vector<std::string>& problems) {
  std::unique_ptr<ShardIndex> found = index_at(shard, kept, stores, cache, problems);
  // It can be made again, and users do not look after it: it is checked as a whole, and made anew if it is bad.
  if (!found) return nullptr;
  const std::optional<std::string> fault = fault_of_data([&] { found->check_all(); });
  if (!fault) return found;
  problems.push_back(*fault);
  return nullptr;
}

void keep_scan(Source& shard, const ShardRows& rows, const BlockTable* blocks, std::span<const std::string> classes,
               const Location& kept, const Stores& stores) {
  try {
    IndexWriter writer;
    SampleRow row;
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      rows.read(i, row);
      writer.add(row);
    }
    stores.create_folder(kept.parent());
    const std::uint64_t tag = content_tag(shard, shard.size());
    put_whole(stores, kept,
              writer.finish({.data_bytes = shard.size(), .content_tag = tag, .blocks = blocks, .classes = classes}));
  } catch (const Error& error) {
    log(LogLevel::kInfo, "the places of the samples of '{}' are not cached: {}", shard.name(), error.message());
  }
}

}  // namespace stoker
