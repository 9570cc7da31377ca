#include "stoker/storage/local_folder.h"

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "stoker/storage/pread_io.h"

namespace stoker {
namespace {

Folder::Identity identity_of(const FileDescriptor& folder, const std::string& path) {
  struct stat facts;
  if (::fstat(folder.get(), &facts) != 0) fail_system("look at", path, errno);
  return {facts.st_dev, facts.st_ino};
}

}  // namespace

FileDescriptor open_folder(int folder, const char* path) {
  return FileDescriptor(::openat(folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK));
}

std::string path_in(std::string_view folder, std::string_view name) {
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
}

LocalFolder::LocalFolder(FileDescriptor folder, std::string path)
    : Folder(identity_of(folder, path)), folder_(std::move(folder)), path_(std::move(path)) {
  FileDescriptor own(::fcntl(folder_.get(), F_DUPFD_CLOEXEC, 0));
  std::unique_ptr<DIR, int (*)(DIR*)> directory(own ? ::fdopendir(own.get()) : nullptr, ::closedir);
  if (!directory) fail_system("list the folder", path_, errno);
  own.release();
  for (;;) {
    errno = 0;
    const dirent* found = ::readdir(directory.get());
    if (found == nullptr) {
      if (errno != 0) fail_system("list the folder", path_, errno);
      break;
    }
    Entry entry{.name = found->d_name, .is_folder = found->d_type == DT_DIR, .is_link = found->d_type == DT_LNK};
    if (entry.name == "." || entry.name == "..") continue;
    if (entry.is_link || found->d_type == DT_UNKNOWN) {
      struct stat facts;
      const bool is_there = ::fstatat(folder_.get(), found->d_name, &facts, 0) == 0;
      entry.is_folder = is_there && S_ISDIR(facts.st_mode);
      entry.is_broken_link = !is_there && (errno == ENOENT || errno == ELOOP);
    }
    add(entry);
  }
}

Folder::File LocalFolder::look_at(std::string_view name) const {
  struct stat facts;
  if (::fstatat(folder_.get(), name.data(), &facts, 0) != 0) {
    if (errno != EACCES) fail_system("look at", path_in(path_, name), errno);
    return {.fault = "unreadable file"};
  }
  if (!S_ISREG(facts.st_mode)) {
    const std::string_view kind = kind_of_file(facts.st_mode);  // "a pipe"
    return {.fault = kind.substr(kind.find(' ') + 1)};
  }
  // Most files can be read by everybody, and need not be opened to find that out.
  constexpr mode_t kByAll = S_IRUSR | S_IRGRP | S_IROTH;
  if ((facts.st_mode & kByAll) != kByAll && !open_for_reading(folder_.get(), name.data())) {
    if (errno != EACCES && errno != EPERM) fail_system("open", path_in(path_, name), errno);
    return {.fault = "unreadable file"};
  }
  return {.length = static_cast<std::uint64_t>(facts.st_size)};
}

std::size_t LocalFolder::read(std::string_view name, MutableBytes into) const {
  const FileDescriptor file = open_for_reading(folder_.get(), name.data());
  if (!file) fail_system("open", path_in(path_, name), errno);
  const FileRead read = read_by_preadv(file.get(), 0, Pieces(&into, 1));
  if (read.error != 0) fail_system("read", path_in(path_, name), read.error);
  return read.count;
}

}  // namespace stoker
