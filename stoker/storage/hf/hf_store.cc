#include "stoker/storage/hf/hf_store.h"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/storage/hf/hf_folder.h"

namespace stoker {
namespace {

ObjectFacts facts_of_entry(const HfEntry& entry) {
  return {.mode = static_cast<mode_t>(entry.is_folder ? S_IFDIR : S_IFREG), .size = entry.size, .tag = entry.tag};
}

[[noreturn]] void fail_hub_read_only(const Location& at) {
  fail(ErrorKind::kUsage,
       "'{}' cannot be written: Stoker only reads from the Hugging Face hub; write a folder, and upload it with 'hf "
       "upload'",
       at);
}

}  // namespace

HfStore::HfStore(std::shared_ptr<HttpTransport> transport, std::function<HfAccess()> access)
    : transport_(std::move(transport)), access_(std::move(access)) {}

HfAnswer<HfStore::Snapshot> HfStore::snapshot_of(const HfRepository& repository, const HfQuestion& question) const {
  // In a forked child nothing is remembered, since the lock may be held for ever.
  if (!home_.here()) return resolve(repository, question);
  const std::string key = fmt::format("{}@{}", hf_page_url("", repository), repository.revision);
  const std::lock_guard lock(mutex_);
  if (const auto known = snapshots_.find(key); known != snapshots_.end()) return {.value = known->second};
  HfAnswer<Snapshot> answer = resolve(repository, question);
  if (answer.value) snapshots_.emplace(key, *answer.value);
  return answer;
}

HfAnswer<HfStore::Snapshot> HfStore::resolve(const HfRepository& repository, const HfQuestion& question) const {
  const HfAccess access = access_();
  if (access.offline) {
    fail(ErrorKind::kIo, "cannot {} '{}': HF_HUB_OFFLINE is set, so the hub is not asked; unset it, or give a copy",
         question.doing, question.name);
  }
  std::string commit = repository.revision;
  if (!is_hf_commit(commit)) {
    const HfDialect dialect(repository, access);
    const auto reply = ask_hub(*transport_, dialect, hf_revision_url(access.endpoint, repository), question);
    if (!reply.value) return {.refusal = reply.refusal};
    commit = parse_reply(question, [&] { return parse_hf_commit(reply.value->text); });
  }
  return {.value = std::make_shared<const HfSnapshot>(repository, std::move(commit), access, transport_)};
}

HfAnswer<HfStore::Found> HfStore::look_at(const HfPath& path, const HfQuestion& question) const {
  HfAnswer<Snapshot> snapshot = snapshot_of(path.repository, question);
  if (!snapshot.value) return {.refusal = snapshot.refusal};
  // The repository itself: a commit that was given is not known to be there before it is listed.
  if (path.path.empty()) {
    if (const auto listed = (*snapshot.value)->list("", false, question); !listed.value)
      return {.refusal = listed.refusal};
    return {.value = Found{*snapshot.value, HfEntry{.is_folder = true}}};
  }
  HfAnswer<HfEntry> entry = (*snapshot.value)->find(path.path, question);
  if (!entry.value) return {.refusal = entry.refusal};
  return {.value = Found{*snapshot.value, *std::move(entry.value)}};
}

std::optional<ObjectFacts> HfStore::find(const Location& at) const {
  const std::optional<HfPath> path = parse_hf_path(at);
  if (!path) return std::nullopt;
  const HfAnswer<Found> found = look_at(*path, {"look at", at.shown()});
  return found.value ? std::optional(facts_of_entry(found.value->entry)) : std::nullopt;
}

ObjectFacts HfStore::stat(const Location& at, std::string_view doing) const {
  return facts_of_entry(look_at(require_hf_path(at), {doing, at.shown()}).require().entry);
}

std::shared_ptr<const HfListing> HfStore::list_folder(const HfSnapshot& snapshot, const std::string& folder,
                                                      bool recursive, const HfQuestion& question) const {
  std::shared_ptr<const HfListing> listing = snapshot.list(folder, recursive, question).require();
  if (!listing) {
    fail(ErrorKind::kNotFound, "cannot {} '{}': {}", question.doing, question.name, no_entry_in(snapshot.repository()));
  }
  return listing;
}

std::unique_ptr<Folder> HfStore::list(const Location& folder) const {
  const HfPath path = require_hf_path(folder);
  const std::string name = folder.shown();
  const HfQuestion question{"list", name};
  const Snapshot snapshot = snapshot_of(path.repository, question).require();
  return std::make_unique<HfFolder>(snapshot, list_folder(*snapshot, path.path, false, question), path.path, name);
}

std::shared_ptr<Source> HfStore::open(const Location& at) const {
  const Found found = look_at(require_hf_path(at), {"open", at.shown()}).require();
  if (found.entry.is_folder) fail(ErrorKind::kUsage, "'{}' is a folder, but a file is needed", at);
  return found.snapshot->open(found.entry, at.shown());
}

std::shared_ptr<Source> HfStore::open_folder(const Location& folder) const {
  const HfPath path = require_hf_path(folder);
  const std::string name = folder.shown();
  const HfQuestion question{"open the folder", name};
  const Snapshot snapshot = snapshot_of(path.repository, question).require();
  return std::make_shared<HfFolderSource>(snapshot, list_folder(*snapshot, path.path, true, question), path.path, name);
}

std::vector<Location> HfStore::match(const Location& pattern) const {
  const HfPath path = require_hf_path(pattern);
  const std::string name = pattern.shown();
  const HfQuestion question{"list", name};
  const Snapshot snapshot = snapshot_of(path.repository, question).require();
  std::vector<std::string> paths;
  match_below(*snapshot, "", path.path, question, paths);
  std::sort(paths.begin(), paths.end());
  std::vector<Location> found;
  found.reserve(paths.size());
  for (const std::string& one : paths) found.emplace_back(fmt::format("{}/{}", path.root, one));
  return found;
}

void HfStore::match_below(const HfSnapshot& snapshot, const std::string& folder, std::string_view pattern,
                          const HfQuestion& question, std::vector<std::string>& found) const {
  const std::shared_ptr<const HfListing> listing = snapshot.list(folder, false, question).require();
  if (!listing) return;
  const std::size_t slash = pattern.find('/');
  const std::string component(pattern.substr(0, slash));
  for (const HfEntry& entry : listing->entries()) {
    const std::string own = entry.path.substr(folder.empty() ? 0 : folder.size() + 1);
    if (::fnmatch(component.c_str(), own.c_str(), FNM_PATHNAME | FNM_PERIOD) != 0) continue;
    if (slash == std::string_view::npos) {
      found.push_back(entry.path);
    } else if (entry.is_folder) {
      match_below(snapshot, entry.path, pattern.substr(slash + 1), question, found);
    }
  }
}

std::unique_ptr<ObjectWriter> HfStore::put(const Location& at) const { fail_hub_read_only(at); }

void HfStore::remove(const Location& at) const { fail_hub_read_only(at); }

}  // namespace stoker
