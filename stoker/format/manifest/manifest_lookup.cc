#include "stoker/format/manifest/manifest_lookup.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "stoker/base/error.h"
#include "stoker/format/manifest/listed_shard.h"
#include "stoker/storage/posix_file.h"

namespace stoker {

const Manifests::Folder& Manifests::folder(const std::string& path) {
  const auto known = folders_.find(path);
  if (known != folders_.end()) return known->second;
  Folder folder;
  try {
    folder.manifest = Manifest::read(path);
  } catch (const Error& error) {
    if (!is_about_data(error.kind())) throw;
    problems_.push_back(fmt::format("{}; its shards are opened one by one", error.message()));
  }
  struct stat journal;
  if (!folder.manifest && ::stat((std::filesystem::path(path) / kJournalName).c_str(), &journal) == 0) {
    fail(ErrorKind::kData, "'{}' holds a pack that is not finished; the same `stoker pack` goes on with it", path);
  }
  if (folder.manifest) {
    for (const ManifestShard& shard : folder.manifest->shards) folder.shards.emplace(shard.name, &shard);
  }
  return folders_.emplace(path, std::move(folder)).first->second;
}

Manifests::Found Manifests::find(const std::string& shard) {
  struct stat facts;
  const bool is_there = ::stat(shard.c_str(), &facts) == 0;
  const int error = errno;
  if (is_there && S_ISDIR(facts.st_mode)) return {};  // loose files, which no manifest lists
  const std::filesystem::path path(shard);
  const Folder& beside = folder(path.has_parent_path() ? path.parent_path().string() : ".");
  if (!beside.manifest) return {};
  const auto entry = beside.shards.find(path.filename().string());
  if (entry == beside.shards.end()) {
    problems_.push_back(fmt::format("'{}' is not in the manifest beside it", shard));
    return {&*beside.manifest, nullptr};
  }
  if (!is_there) fail_system("open", shard, error);
  const auto bytes = static_cast<std::uint64_t>(facts.st_size);
  return {&*beside.manifest, entry->second, contradiction_of_size(*entry->second, shard, bytes)};
}

std::vector<std::string> Manifests::shards_of(const std::string& in) {
  std::vector<std::string> paths;
  if (const Folder& found = folder(in); found.manifest) {
    for (const ManifestShard& shard : found.manifest->shards) {
      paths.push_back((std::filesystem::path(in) / shard.name).string());
    }
    whole_folders_.push_back(in);
  }
  return paths;
}

}  // namespace stoker
