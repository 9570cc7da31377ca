#include "stoker/storage/local_store.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "stoker/storage/atomic_file.h"
#include "stoker/storage/file_source.h"
#include "stoker/storage/folder_source.h"
#include "stoker/storage/local_folder.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

ObjectFacts facts_of(const struct stat& found) {
  return {.mode = found.st_mode,
          .size = static_cast<std::uint64_t>(found.st_size),
          .identity = {found.st_dev, found.st_ino},
          .modified = found.st_mtim,
          .changed = found.st_ctim};
}

bool is_absence(int error) { return error == ENOENT || error == ENOTDIR; }

/// What matches a pattern, found folder by folder. glob() would pass over a folder that cannot be looked into, and over
/// every shard in it.
class PatternSearch {
 public:
  /// Throws kIo, naming the folder or the file that cannot be looked at.
  std::vector<Location> run(std::string_view pattern) {
    const std::size_t root = std::min(pattern.find_first_not_of('/'), pattern.size());
    look_in(std::string(pattern.substr(0, root)), pattern.substr(root));
    return std::move(found_);
  }

 private:
  /// `folder` is empty, or ends in a slash.
  void look_in(const std::string& folder, std::string_view pattern) {
    const std::size_t slash = std::min(pattern.find('/'), pattern.size());
    const std::size_t next = std::min(pattern.find_first_not_of('/', slash), pattern.size());
    const std::string component(pattern.substr(0, slash));
    const std::string_view slashes = pattern.substr(slash, next - slash), rest = pattern.substr(next);
    const auto go_on = [&](std::string_view name, bool is_listed) {
      const std::string path = fmt::format("{}{}{}", folder, name, slashes);
      if (!rest.empty()) return look_in(path, rest);
      if (is_listed || is_there(path)) found_.emplace_back(path);
    };
    if (component.find_first_of("*?[\\") == std::string::npos) return go_on(component, false);
    const std::unique_ptr<LocalFolder> entries = listed(folder);
    for (std::size_t i = 0; entries && i < entries->size(); ++i) {
      const Folder::Entry entry = (*entries)[i];
      const bool fits = slashes.empty() || entry.is_folder;
      if (fits && ::fnmatch(component.c_str(), entry.name.data(), FNM_PERIOD) == 0) go_on(entry.name, true);
    }
  }

  /// Null for what is no folder, or not there.
  static std::unique_ptr<LocalFolder> listed(const std::string& folder) {
    const std::string path = folder.empty() ? "." : folder;
    FileDescriptor opened = open_folder(AT_FDCWD, path.c_str());
    if (opened) return std::make_unique<LocalFolder>(std::move(opened), path);
    if (!is_absence(errno)) fail_system("read the folder", path, errno);
    return nullptr;
  }

  static bool is_there(const std::string& path) {
    struct stat found;
    if (::lstat(path.c_str(), &found) == 0) return true;
    if (!is_absence(errno)) fail_system("open", path, errno);
    return false;
  }

  std::vector<Location> found_;
};

}  // namespace

std::optional<ObjectFacts> LocalStore::find(const Location& at) const {
  struct stat found;
  if (::stat(at.text().c_str(), &found) != 0) return std::nullopt;
  return facts_of(found);
}

ObjectFacts LocalStore::stat(const Location& at, std::string_view doing) const {
  struct stat found;
  if (::stat(at.text().c_str(), &found) != 0) fail_system(doing, at.text(), errno);
  return facts_of(found);
}

std::unique_ptr<Folder> LocalStore::list(const Location& folder) const {
  FileDescriptor opened = stoker::open_folder(AT_FDCWD, folder.text().c_str());
  if (!opened) fail_system("read the folder", folder.text(), errno);
  return std::make_unique<LocalFolder>(std::move(opened), folder.text());
}

std::vector<Location> LocalStore::match(const Location& pattern) const {
  std::vector<Location> matches = PatternSearch().run(pattern.text());
  std::sort(matches.begin(), matches.end());
  return matches;
}

std::shared_ptr<Source> LocalStore::open(const Location& at) const {
  return std::make_shared<FileSource>(at.text(), access_);
}

std::shared_ptr<Source> LocalStore::open_for_samples(const std::shared_ptr<Source>& opened) const {
  const FileOptions options{.direct = access_.direct, .random = true};
  auto source = std::make_shared<FileSource>(opened->name(), access_, options);
  source->require_same_file_as(static_cast<const FileSource&>(*opened));
  return source;
}

std::shared_ptr<Source> LocalStore::open_folder(const Location& folder) const {
  return std::make_shared<FolderSource>(folder.text(), access_.executor);
}

std::unique_ptr<ObjectWriter> LocalStore::put(const Location& at) const {
  return std::make_unique<AtomicFile>(at.text(), writer_);
}

void LocalStore::remove(const Location& at) const {
  if (::unlink(at.text().c_str()) != 0 && errno != ENOENT) fail_system("remove", at.text(), errno);
}

void LocalStore::remove_unfinished(const Location& folder) const {
  const std::unique_ptr<Folder> names = list(folder);
  for (std::size_t i = 0; i < names->size(); ++i) {
    if ((*names)[i].name.ends_with(kPartialEnding)) remove(folder / (*names)[i].name);
  }
}

void LocalStore::create_folder(const Location& folder) const {
  std::error_code error;
  fs::create_directories(folder.text(), error);
  if (error) fail_system("create the folder", folder.text(), error.value());
}

bool LocalStore::lies_in(const Location& inner, const Location& folder) const {
  std::error_code error;
  const std::string place = fs::weakly_canonical(inner.text(), error).string() + "/";
  return place.starts_with(fs::weakly_canonical(folder.text(), error).string() + "/");
}

}  // namespace stoker
