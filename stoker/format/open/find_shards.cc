#include "stoker/format/open/find_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"
#include "stoker/format/member_name.h"
#include "stoker/format/open/path_pattern.h"
#include "stoker/format/text_lines.h"
#include "stoker/format/tokens/token_file.h"

namespace stoker {
namespace {

constexpr std::uint64_t kListBytesMax = 64 << 20;

/// "it begins with the bytes 4d 5a 90 00 (MZ..)", or what else can be said of the beginning.
std::string beginning_of(Bytes head) {
  constexpr std::size_t kShown = 16;
  if (head.empty()) return "it is empty";
  head = head.first(std::min(head.size(), kShown));
  std::string hex, text;
  for (const std::uint8_t byte : head) {
    hex += fmt::format("{}{:02x}", hex.empty() ? "" : " ", byte);
    text += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
  }
  return fmt::format("it begins with the bytes {} ({})", hex, text);
}

bool is_image_name(std::string_view file) {
  const auto split = split_member_name(file);
  return split && is_image_field_name(split->field);
}

[[noreturn]] void fail_unknown_kind(const Stores& stores, const Location& path) {
  std::string known;
  for (const ShardFormat* format : shard_formats()) known += fmt::format("{}, ", format->name());
  const std::optional<ObjectFacts> facts = stores.find(path);
  const std::string found = facts ? beginning_of(ShardCandidate(stores, path, facts).head()) : "it is not there";
  const std::optional<Location> index = facts && facts->is_file() ? find_token_index(stores, path) : std::nullopt;
  std::string advice;
  if (index) {
    advice = fmt::format(
        "; '{}' is an index of tokens: open the .bin with tokens (--tokens), the length of a sequence, or 'documents'",
        *index);
  } else if (facts && is_image_name(path.text())) {
    advice = "; to choose images by their paths, write a CSV file with the heading path,label, and open that";
  }
  fail(ErrorKind::kData, "'{}' is not a kind of data that Stoker knows ({}or a text file of paths): {}{}", path, known,
       found, advice);
}

/// Whether one thing is named, and not as files are, with an ending.
bool looks_like_folder(const Location& at) {
  if (at.text().find_first_of("*?[{") != std::string::npos) return false;
  return at.text().ends_with('/') || at.name().find('.') == std::string::npos;
}

/// Null for a folder that cannot be listed.
std::unique_ptr<Folder> listed(const Stores& stores, const Location& location) {
  try {
    return stores.list(location);
  } catch (const Error&) {
    return nullptr;
  }
}

/// What lies in folders below one: whether there are images, and else the first shard that was found.
struct Below {
  bool images = false;
  std::optional<Location> shard;
};

/// Looks until there is an image. Links to folders are not followed: they may go in circles. What cannot be listed is
/// passed over.
void look_below(const Stores& stores, const Location& location, Below& below) {
  const std::unique_ptr<Folder> folder = listed(stores, location);
  if (!folder) return;
  folder->drop_hidden();
  for (std::size_t i = 0; i < folder->size(); ++i) {
    const Folder::Entry entry = (*folder)[i];
    below.images = below.images || is_image_name(entry.name);
    if (!entry.is_folder && !below.shard && is_shard_name(entry.name)) below.shard = location / entry.name;
  }
  for (std::size_t i = 0; i < folder->size() && !below.images; ++i) {
    const Folder::Entry entry = (*folder)[i];
    if (entry.is_folder && !entry.is_link) look_below(stores, location / entry.name, below);
  }
}

/// What stands for the shards named like this one: "*.tar", "*-of-*".
std::string pattern_for(std::string_view shard) {
  if (shard.find("-of-") != std::string_view::npos) return "*-of-*";
  return fmt::format("*{}", shard.substr(std::min(shard.rfind('.'), shard.size())));
}

/// The shards that a file in the folder lists; none if it is not a list of any format.
std::vector<Location> listed_by(std::string_view file, const Stores& stores, const Location& folder) {
  for (const ShardFormat* format : shard_formats()) {
    if (!format->is_list_name(file)) continue;
    std::vector<Location> shards = format->listed_shards(stores, folder);
    if (!shards.empty()) return shards;
  }
  return {};
}

[[noreturn]] void fail_tokens(const Location& folder) {
  fail(ErrorKind::kUsage, "'{}' holds tokens; open it with tokens (--tokens): the length of a sequence, or 'documents'",
       folder);
}

/// In a folder of nothing else that Stoker knows: a ".bin" that has an index of tokens beside it.
bool holds_tokens(const Stores& stores, const Location& location, const Folder& folder) {
  std::set<std::string_view> bins, indexes;  // without their endings
  for (std::size_t i = 0; i < folder.size(); ++i) {
    const Folder::Entry entry = folder[i];
    if (entry.is_folder || is_image_name(entry.name)) return false;
    const std::string_view stem = entry.name.substr(0, entry.name.rfind('.'));
    if (entry.name.ends_with(".bin")) bins.insert(stem);
    if (entry.name.ends_with(".idx")) indexes.insert(stem);
  }
  return std::any_of(indexes.begin(), indexes.end(), [&](std::string_view stem) {
    return bins.contains(stem) && find_token_index(stores, location / fmt::format("{}.bin", stem));
  });
}

/// The shards that lie directly in a folder: a packed data set given by its folder. None where it has class folders.
std::vector<Location> shards_in_folder(const Stores& stores, const Location& location) {
  const std::unique_ptr<Folder> folder = listed(stores, location);
  if (!folder) return {};  // what is wrong the folder's own scan says
  std::vector<Location> shards, folders;
  std::vector<std::string> images;
  folder->drop_hidden();
  for (std::size_t i = 0; i < folder->size(); ++i) {
    const Folder::Entry entry = (*folder)[i];
    if (entry.is_folder) {
      folders.push_back(location / entry.name);
      continue;
    }
    std::vector<Location> listed_shards = listed_by(entry.name, stores, location);
    if (!listed_shards.empty()) return listed_shards;
    if (is_image_name(entry.name)) images.emplace_back(entry.name);
    if (is_shard_name(entry.name)) shards.push_back(location / entry.name);
  }
  if (shards.empty() && holds_tokens(stores, location, *folder)) fail_tokens(location);
  if (shards.empty()) return {};
  Below below;
  for (const Location& one : folders) {
    if (!below.images) look_below(stores, one, below);
  }
  if (below.images) {
    log(LogLevel::kWarning, "'{}': skips {} beside its class folders", location, counted(shards.size(), "shard"));
    return {};
  }
  if (below.shard) {
    log(LogLevel::kWarning,
        "'{}': reads the shards that lie directly in it ({}), not those in its folders, such as '{}'", location,
        shards.size(), *below.shard);
  }
  std::sort(shards.begin(), shards.end());
  if (!images.empty()) {
    fail(ErrorKind::kUsage,
         "'{}' contains shards, such as '{}', and images, such as '{}'; give '{}' for the shards, or move the images "
         "away",
         location, shards.front().name(), images.front(), location / pattern_for(shards.front().name()));
  }
  return shards;
}

/// The shards that a user's words stand for.
class ShardFinder {
 public:
  ShardFinder(const Stores& stores, Manifests& manifests, const std::stop_token& stop, TokenPacks token_packs)
      : stores_(stores), manifests_(manifests), stop_(stop), token_packs_(token_packs) {}

  std::vector<FoundShard> find(const std::vector<std::string>& data) {
    for (const std::string& pattern : data) {
      if (pattern == "-") {
        fail(ErrorKind::kUsage, "data cannot come from a pipe: Stoker reads by range, so give it a file");
      }
      if (looks_like_folder(pattern)) stores_.expect_folder(pattern, kManifestName);
      for (const Location& location : expand_pattern(pattern, stores_)) add(location, false);
    }
    return std::move(shards_);
  }

 private:
  /// Adds the shards that one location stands for.
  void add(const Location& location, bool from_list) {
    stop_if_asked(stop_, location.shown());
    const std::optional<ObjectFacts> facts = stores_.stat(location, "open");
    if (facts->is_folder()) {
      std::vector<Location> shards = manifests_.shards_of(location);
      if (manifests_.tokens_of(location)) return pass_token_pack(location);
      if (shards.empty()) shards = shards_in_folder(stores_, location);
      stores_.expect(shards);
      for (const Location& shard : shards) {
        // A manifest may list anything.
        if (!add_if_known(shard, stores_.find(shard))) fail_unknown_kind(stores_, shard);
      }
      if (!shards.empty()) return;
    } else {
      require_regular_file(location.shown(), facts->mode);
    }
    if (add_if_known(location, facts)) return;
    if (from_list) fail_unknown_kind(stores_, location);
    add_listed(location);
  }

  void pass_token_pack(const Location& folder) const {
    if (token_packs_ == TokenPacks::kRefuse) fail_tokens(folder);
  }

  bool add_if_known(const Location& location, const std::optional<ObjectFacts>& facts) {
    const ShardFormat* const format = format_of(ShardCandidate(stores_, location, facts));
    if (format) shards_.push_back({location, format});
    return format != nullptr;
  }

  /// What the lines of a text file stand for: one a line, relative to the file's folder.
  void add_listed(const Location& list) {
    const std::optional<std::vector<TextLine>> lines = read_text_lines(*stores_.open(list), kListBytesMax);
    if (!lines) fail_unknown_kind(stores_, list);
    std::vector<Location> named;
    for (const TextLine& line : *lines) named.push_back(list.parent() / line.text);
    stores_.expect(named);
    for (const TextLine& line : *lines) {
      try {
        for (const Location& one : expand_pattern(list.parent() / line.text, stores_)) add(one, true);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::kClosed) throw;
        throw error.with_context(fmt::format("'{}', line {}", list, line.number));
      }
    }
  }

  const Stores& stores_;
  Manifests& manifests_;
  const std::stop_token& stop_;
  const TokenPacks token_packs_;
  std::vector<FoundShard> shards_;
};

}  // namespace

std::vector<FoundShard> find_shards(const std::vector<std::string>& data, const Stores& stores, Manifests& manifests,
                                    const std::stop_token& stop, TokenPacks token_packs) {
  return ShardFinder(stores, manifests, stop, token_packs).find(data);
}

std::vector<FoundShard> chosen_shards(std::vector<FoundShard> shards,
                                      const std::optional<std::vector<std::size_t>>& numbers) {
  if (!numbers) return shards;
  std::vector<FoundShard> chosen;
  for (const std::size_t number : *numbers) {
    if (number >= shards.size()) {
      fail(ErrorKind::kUsage, "there is no shard {} in the data, which have {}", number,
           counted(shards.size(), "shard"));
    }
    chosen.push_back(shards[number]);
  }
  return chosen;
}

}  // namespace stoker
