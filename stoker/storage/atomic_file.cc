#include "stoker/storage/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {
namespace {

constexpr std::size_t kWriteBytes = 1 << 20;      // what is collected for one system call
constexpr std::size_t kCopyMax = 64 << 10;        // more is not worth collecting
constexpr std::uint64_t kWriteBehind = 16 << 20;  // the disk is to begin with these long before commit() waits for it

/// Opens or creates the file, and empties it: it may be what a killed process left. Two that would write to it at once
/// could leave neither's bytes, so a process that writes has it locked, and one that may write the same bytes waits.
FileDescriptor open_partial(const std::string& path, bool waits) {
  for (;;) {
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (!file) fail_system("create", path, errno);
    if (waits) {
      wait_for_lock(file);
    } else if (!lock_exclusively(file)) {
      fail(ErrorKind::kIo, "'{}' is being written by another process; wait until it ends", path);
    }
    if (!is_named(file, path)) continue;  // another process has just finished it, and given it its name
    if (::ftruncate(file.get(), 0) == 0) return file;
    const int error = errno;
    ::unlink(path.c_str());
    fail_system("write", path, error);
  }
}

/// Whether the path names a device or a pipe, which takes bytes as they come, and must not be replaced.
bool takes_bytes_as_they_come(const std::string& path) {
  struct stat found;
  return ::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

FileDescriptor open_as_it_is(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) fail_system("open", path, errno);
  return file;
}

std::string partial_name(const std::string& path, std::string_view writer) {
  std::string name = path;
  if (!writer.empty()) name.append(".").append(writer);
  return name.append(kPartialEnding);
}

/// Wherever the process goes until the file is whole.
std::string absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path found = std::filesystem::absolute(path, error);
  return error ? path : found.string();
}

}  // namespace

AtomicFile::AtomicFile(std::string path, std::string_view writer)
    : path_(std::move(path)),
      final_path_(absolute(path_)),
      partial_path_(takes_bytes_as_they_come(path_) ? "" : partial_name(final_path_, writer)),
      fd_(partial_path_.empty() ? open_as_it_is(path_) : open_partial(partial_path_, !writer.empty())) {
  buffer_.reserve(kWriteBytes);
}

AtomicFile::~AtomicFile() {
  if (fd_ && !partial_path_.empty()) ::unlink(partial_path_.c_str());
}

void AtomicFile::write(Bytes bytes) {
  if (bytes.size() > kCopyMax) {
    flush();
    return write_out(bytes);
  }
  while (!bytes.empty()) {
    const Bytes piece = bytes.first(std::min(bytes.size(), kWriteBytes - buffer_.size()));
    buffer_.insert(buffer_.end(), piece.begin(), piece.end());
    bytes = bytes.subspan(piece.size());
    if (buffer_.size() == kWriteBytes) flush();
  }
}

void AtomicFile::flush() {
  write_out(buffer_);
  buffer_.clear();
}

void AtomicFile::write_out(Bytes bytes) {
  write_fully(fd_, bytes, path_);
  written_ += bytes.size();
  if (written_ - begun_ >= kWriteBehind) {
    // Only advice: whatever is wrong, fsync() will say it.
    ::sync_file_range(fd_.get(), static_cast<off_t>(begun_), static_cast<off_t>(written_ - begun_),
                      SYNC_FILE_RANGE_WRITE);
    begun_ = written_;
  }
}

void AtomicFile::commit() {
  flush();
  if (partial_path_.empty()) {
    ::close(fd_.release());
    return;
  }
  if (::fsync(fd_.get()) != 0) fail_system("write", path_, errno);
  if (std::rename(partial_path_.c_str(), final_path_.c_str()) != 0) fail_system("create", path_, errno);
  // From here on the destructor has nothing to remove. What was synced cannot be lost by closing.
  ::close(fd_.release());
  sync_folder(std::filesystem::path(final_path_).parent_path().string());
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
