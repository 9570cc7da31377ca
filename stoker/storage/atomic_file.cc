#include "stoker/storage/atomic_file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {
namespace {

constexpr std::size_t kWriteBytes = 1 << 20;  // per system call

}  // namespace

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)),
      partial_path_(path_ + std::string(kPartialEnding)),
      fd_(::open(partial_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (!fd_) fail_system("create", partial_path_, errno);
  buffer_.reserve(kWriteBytes);
}

AtomicFile::~AtomicFile() {
  if (fd_) ::unlink(partial_path_.c_str());
}

void AtomicFile::write(Bytes bytes) {
  while (!bytes.empty()) {
    const Bytes piece = bytes.first(std::min(bytes.size(), kWriteBytes - buffer_.size()));
    buffer_.insert(buffer_.end(), piece.begin(), piece.end());
    bytes = bytes.subspan(piece.size());
    if (buffer_.size() == kWriteBytes) flush();
  }
}

void AtomicFile::flush() {
  for (Bytes rest = buffer_; !rest.empty();) {
    const ssize_t written = ::write(fd_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_system("write", path_, errno);
    rest = rest.subspan(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  if (::fsync(fd_.get()) != 0) fail_system("write", path_, errno);
  if (std::rename(partial_path_.c_str(), path_.c_str()) != 0) fail_system("create", path_, errno);
  // From here on the destructor has nothing to remove. What was synced cannot be lost by closing.
  ::close(fd_.release());
  sync_folder(std::filesystem::path(path_).parent_path().string());
}

void write_whole_file(const std::string& path, Bytes content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

void sync_folder(const std::string& folder) {
  const std::string path = folder.empty() ? "." : folder;
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) fail_system("open the folder", path, errno);
  // Some file systems (of networks, mostly) know no such thing, and order their names themselves.
  if (::fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) fail_system("write the folder", path, errno);
}

}  // namespace stoker
