#include "stoker/storage/local_store.h"

#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

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
  glob_t found{};
  const int status = ::glob(pattern.text().c_str(), 0, nullptr, &found);
  const std::unique_ptr<glob_t, void (*)(glob_t*)> owner(&found, ::globfree);
  if (status == GLOB_NOSPACE) throw std::bad_alloc();
  if (status == GLOB_ABORTED) fail(ErrorKind::kIo, "cannot list the folders that '{}' matches", pattern);
  std::vector<Location> matches;
  if (status == 0) matches.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  std::sort(matches.begin(), matches.end());  // by bytes: glob's own order follows the locale
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
