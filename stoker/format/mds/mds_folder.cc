#include "stoker/format/mds/mds_folder.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "stoker/base/error.h"
#include "stoker/base/json_values.h"
#include "stoker/base/units.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

using MdsJson = nlohmann::json;

constexpr std::uint64_t kMdsIndexBytesMax = std::uint64_t{256} << 20;

struct ListedFile {
  Location location;
  std::uint64_t bytes;
};

struct ListedMdsShard {
  std::optional<ListedFile> raw, zip;
};

const MdsJson* mds_member(const MdsJson& of, const char* name) {
  if (!of.is_object()) return nullptr;
  const auto found = of.find(name);
  return found == of.end() || found->is_null() ? nullptr : &*found;
}

std::optional<ListedFile> listed_file(const MdsJson& shard, const char* name, const Location& folder) {
  const MdsJson* const file = mds_member(shard, name);
  if (!file) return std::nullopt;
  const MdsJson* const basename = mds_member(*file, "basename");
  const MdsJson* const bytes = mds_member(*file, "bytes");
  if (!basename || !basename->is_string() || !bytes || !bytes->is_number_unsigned()) {
    fail(ErrorKind::kData, "its '{}' has no name and size", name);
  }
  const std::string& path = basename->get_ref<const std::string&>();
  if (path.empty() || leads_elsewhere(path) || path.find('\0') != std::string::npos ||
      path.find("://") != std::string::npos) {
    fail(ErrorKind::kData, "its '{}' is outside of the folder", name);
  }
  return ListedFile{folder / path, bytes->get<std::uint64_t>()};
}

std::vector<ListedMdsShard> parse_mds_index(const MdsJson& shards, const Location& folder, const Location& index) {
  std::vector<ListedMdsShard> listed;
  for (const MdsJson& shard : shards) {
    try {
      const MdsJson* const format = mds_member(shard, "format");
      if (!format || *format != "mds") fail(ErrorKind::kData, "its format is not \"mds\"");
      ListedMdsShard& into = listed.emplace_back();
      into.raw = listed_file(shard, "raw_data", folder);
      into.zip = listed_file(shard, "zip_data", folder);
      if (!into.raw && !into.zip) fail(ErrorKind::kData, "it has no file");
    } catch (const Error& wrong) {
      fail(ErrorKind::kData, "'{}': shard {} cannot be used: {}", index, listed.empty() ? 0 : listed.size() - 1,
           wrong.message());
    }
  }
  return listed;
}

/// Null for what is not a list of MDS shards.
const MdsJson* shards_of_index(const MdsJson& index) {
  const MdsJson* const shards = mds_member(index, "shards");
  if (!shards || !shards->is_array() || shards->empty()) return nullptr;
  const MdsJson* const format = mds_member(shards->front(), "format");
  return format && *format == "mds" ? shards : nullptr;
}

}  // namespace

std::vector<Location> listed_mds_shards(const Stores& stores, const Location& folder) {
  const Location index = folder / kMdsListName;
  const std::optional<ObjectFacts> facts = stores.find(index);
  if (!facts || !facts->is_file() || facts->size > kMdsIndexBytesMax) return {};
  std::vector<std::uint8_t> text(facts->size);
  read_fully(*stores.open(index), 0, text);
  const MdsJson json = parse_data_json(as_text(text));
  const MdsJson* const shards = shards_of_index(json);
  if (!shards) return {};
  const std::vector<ListedMdsShard> listed = parse_mds_index(*shards, folder, index);
  std::vector<Location> expected, found;
  for (const ListedMdsShard& shard : listed) expected.push_back((shard.zip ? shard.zip : shard.raw)->location);
  stores.expect(expected);
  for (const ListedMdsShard& shard : listed) {
    const ListedFile* file = shard.zip ? &*shard.zip : &*shard.raw;
    std::optional<ObjectFacts> there = stores.find(file->location);
    if (!there && shard.zip && shard.raw) {  // decompressed since
      file = &*shard.raw;
      there = stores.find(file->location);
    }
    if (!there) fail(ErrorKind::kNotFound, "'{}' is not there, and '{}' lists it", file->location, index);
    if (there->size != file->bytes) {
      fail(ErrorKind::kData, "'{}' has {}, and '{}' says {}", file->location, byte_count(there->size), index,
           byte_count(file->bytes));
    }
    found.push_back(file->location);
  }
  return found;
}

}  // namespace stoker
