// The system calls that file sources use, with their pitfalls handled in one place: interrupted calls, short reads, and
// files that can be opened but not read by range.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/error.h"

namespace stoker {

/// Owns an open file descriptor, or none (-1).
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }
  /// Gives the descriptor away, to be closed by the caller.
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// Opens for reading, relative to the open folder `folder` (AT_FDCWD: the working directory). Does not wait for a
/// pipe's writer. `flags` are open()'s, for instance O_DIRECT. Returns no descriptor, and errno, when it fails.
FileDescriptor open_for_reading(int folder, const char* path, int flags = 0);

/// Writes all of the bytes. Throws kIo, naming `path`.
void write_fully(const FileDescriptor& file, Bytes bytes, std::string_view path);

/// Takes the lock that a process has on a file as long as it keeps the descriptor (or its copies) open. False if
/// another has it. File systems without locks are taken at their word.
bool lock_exclusively(const FileDescriptor& file);
/// The same, once others do not have it any more.
void wait_for_lock(const FileDescriptor& file);

/// Whether the open file is the one that has the name.
bool is_named(const FileDescriptor& file, const std::string& path);

/// "a folder", "a pipe", "a socket", "a device", "a file".
std::string_view kind_of_file(mode_t mode);

/// "cannot open 'x.tar': Permission denied" as kNotFound, kIo, or kMemory where the machine has no memory or
/// descriptor left for it.
[[noreturn]] void fail_system(std::string_view doing, std::string_view path, int error);

/// Throws for what is not a regular file: it cannot be read by range.
void require_regular_file(std::string_view path, mode_t mode, ErrorKind kind = ErrorKind::kUsage);

}  // namespace stoker
