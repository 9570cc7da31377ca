#include "stoker/storage/posix_file.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <system_error>

namespace stoker {

FileDescriptor open_for_reading(int folder, const char* path, int flags) {
  int fd;
  do {
    fd = ::openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
  } while (fd < 0 && errno == EINTR);
  return FileDescriptor(fd);
}

void write_fully(const FileDescriptor& file, Bytes bytes, std::string_view path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_system("write", path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

bool is_named(const FileDescriptor& file, const std::string& path) {
  struct stat open, named;
  return ::fstat(file.get(), &open) == 0 && ::stat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

namespace {

int lock(const FileDescriptor& file, int how) {
  int result;
  do {
    result = ::flock(file.get(), how);
  } while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

bool lock_exclusively(const FileDescriptor& file) { return lock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

void wait_for_lock(const FileDescriptor& file) { lock(file, LOCK_EX); }

std::string_view kind_of_file(mode_t mode) {
  if (S_ISREG(mode)) return "a file";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

void fail_system(std::string_view doing, std::string_view path, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  const bool refused = error == EMFILE || error == ENFILE || error == ENOMEM;  // by the machine, of whatever file
  const std::string_view hint =
      error == EMFILE ? "; raise the limit of open files (ulimit -n), or merge the shards into fewer" : "";
  const ErrorKind kind = missing ? ErrorKind::kNotFound : refused ? ErrorKind::kMemory : ErrorKind::kIo;
  fail(kind, "cannot {} '{}': {}{}", doing, path, std::generic_category().message(error), hint);
}

void require_regular_file(std::string_view path, mode_t mode, ErrorKind kind) {
  if (S_ISREG(mode)) return;
  if (S_ISDIR(mode)) fail(kind, "'{}' is a folder, but a file is needed", path);
  fail(kind, "'{}' is {}; Stoker reads by range, so save its contents to a file first", path, kind_of_file(mode));
}

}  // namespace stoker
