#include "stoker/storage/hf/hf_folder.h"

#include <algorithm>
#include <set>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/storage/http/http_part_read.h"
#include "stoker/storage/local_folder.h"

namespace stoker {
namespace {

constexpr std::uint64_t kHub = 0x6866;  // where a file system has the number of its device

/// The path of what is called `name` in a folder of the repository, or in the repository itself.
std::string path_below(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name);
}

[[noreturn]] void fail_none(std::string_view name) { fail(ErrorKind::kNotFound, "there is no file '{}'", name); }

}  // namespace

HfFolder::HfFolder(std::shared_ptr<const HfSnapshot> snapshot, std::shared_ptr<const HfListing> listing,
                   std::string_view folder, std::string name)
    : Folder({kHub, snapshot->number_of(folder)}),
      snapshot_(std::move(snapshot)),
      listing_(std::move(listing)),
      folder_(folder),
      name_(std::move(name)) {
  const std::string prefix = path_below(folder_, "");
  const std::vector<HfEntry>& entries = listing_->entries();
  auto entry = std::lower_bound(entries.begin(), entries.end(), prefix,
                                [](const HfEntry& one, const std::string& first) { return one.path < first; });
  std::set<std::string_view> folders;
  for (; entry != entries.end() && entry->path.starts_with(prefix); ++entry) {
    const std::string_view below = std::string_view(entry->path).substr(prefix.size());
    const std::size_t slash = below.find('/');
    const bool is_folder = entry->is_folder || slash != std::string_view::npos;
    const std::string_view own = below.substr(0, slash);
    if (!is_folder || folders.insert(own).second) add({.name = own, .is_folder = is_folder});
  }
}

const HfEntry& HfFolder::require(std::string_view name) const {
  const HfEntry* const entry = listing_->find(path_below(folder_, name));
  if (entry == nullptr || entry->is_folder) fail_none(path_in(name_, name));
  return *entry;
}

Folder::File HfFolder::look_at(std::string_view name) const { return {.length = require(name).size}; }

std::size_t HfFolder::read(std::string_view name, MutableBytes into) const {
  const HfEntry& file = require(name);
  const std::size_t count = std::min<std::uint64_t>(file.size, into.size());
  if (count > 0) read_fully(*snapshot_->open(file, path_in(name_, name)), 0, into.first(count));
  return count;
}

HfFolderSource::HfFolderSource(std::shared_ptr<const HfSnapshot> snapshot, std::shared_ptr<const HfListing> listing,
                               std::string_view folder, std::string name)
    : snapshot_(std::move(snapshot)), listing_(std::move(listing)), folder_(folder), name_(std::move(name)) {}

std::string HfFolderSource::name_of(std::string_view part) const { return path_in(name_, part); }

const HfEntry& HfFolderSource::require(std::string_view part) const {
  if (part.empty()) fail(ErrorKind::kNotFound, "'{}' is a folder; a read must name a file in it", name_);
  const HfEntry* const entry = listing_->find(path_below(folder_, part));
  if (entry == nullptr || entry->is_folder) fail_none(name_of(part));
  return *entry;
}

std::uint64_t HfFolderSource::size(std::string_view part) const { return require(part).size; }

std::unique_ptr<Folder> HfFolderSource::list(std::string_view part) const {
  const std::string folder = part.empty() ? folder_ : path_below(folder_, part);
  const std::string name = part.empty() ? name_ : name_of(part);
  auto listed = std::make_unique<HfFolder>(snapshot_, listing_, folder, name);
  // A repository has no empty folders.
  if (listed->size() == 0) fail(ErrorKind::kNotFound, "there is no folder '{}'", name);
  return listed;
}

void HfFolderSource::start(ReadRequest& request) {
  std::unique_ptr<HttpSource> object;
  request.error = thrown_by([&] { object = snapshot_->open(require(request.part), name_of(request.part)); });
  if (request.error) return request.done(request);
  start_part(std::move(object), *this, request);
}

}  // namespace stoker
