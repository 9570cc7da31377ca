#include "stoker/storage/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <list>
#include <mutex>
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

FileDescriptor open_as_it_is(const std::string& path) {
  if (FileDescriptor own = own_output(path)) return own;
  int fd;
  do {
    fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) fail_system("open", path, errno);
  return FileDescriptor(fd);
}

/// The end of a chain of symbolic links; it need not exist.
std::string follow_links(const std::string& path) {
  constexpr int kLinksMax = 40;  // as the kernel follows
  std::filesystem::path at = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(at, error); ++links) {
    if (links == kLinksMax) fail_system("open", path, ELOOP);
    const std::filesystem::path target = std::filesystem::read_symlink(at, error);
    if (error) fail_system("open", path, error.value());
    at = at.parent_path() / target;
  }
  return at.string();
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

/// The files of this process that have a partial file.
struct UnfinishedFiles {
  std::mutex mutex;
  std::list<const AtomicFile*> files;
};

UnfinishedFiles& unfinished_files() {
  static auto* const all = new UnfinishedFiles;  // never destroyed: other threads may write until the process ends
  return *all;
}

}  // namespace

FileDescriptor own_output(const std::string& path) {
  struct stat named, output;
  if (::stat(path.c_str(), &named) != 0) return FileDescriptor();
  for (const int own : {STDOUT_FILENO, STDERR_FILENO}) {
    if (::fstat(own, &output) != 0 || output.st_dev != named.st_dev || output.st_ino != named.st_ino) continue;
    const int flags = ::fcntl(own, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) continue;
    return FileDescriptor(::fcntl(own, F_DUPFD_CLOEXEC, 0));
  }
  return FileDescriptor();
}

std::string replaced_file(const std::string& path) {
  struct stat found;
  if (::stat(path.c_str(), &found) != 0) return follow_links(path);
  if (S_ISDIR(found.st_mode)) fail_system("create", path, EISDIR);
  if (!S_ISREG(found.st_mode) || found.st_nlink == 0 || own_output(path)) return "";
  return follow_links(path);
}

AtomicFile::AtomicFile(std::string path, std::string_view writer)
    : path_(std::move(path)), final_path_(replaced_file(path_)) {
  buffer_.reserve(kWriteBytes);
  if (final_path_.empty()) {
    fd_ = open_as_it_is(path_);
  } else {
    begin_partial(writer);
  }
}

AtomicFile::~AtomicFile() {
  if (!fd_ || partial_path_.empty()) return;
  ::unlink(partial_path_.c_str());
  end_partial();
}

void AtomicFile::begin_partial(std::string_view writer) {
  final_path_ = absolute(final_path_);
  partial_path_ = partial_name(final_path_, writer);
  fd_ = open_partial(partial_path_, !writer.empty());
  UnfinishedFiles& all = unfinished_files();
  const std::lock_guard lock(all.mutex);
  all.files.splice(all.files.end(), entry_);
}

void AtomicFile::end_partial() {
  UnfinishedFiles& all = unfinished_files();
  const std::lock_guard lock(all.mutex);
  all.files.remove(this);
}

void remove_unfinished_files() {
  UnfinishedFiles& all = unfinished_files();
  const std::lock_guard lock(all.mutex);
  for (const AtomicFile* const file : all.files) {
    if (is_named(file->fd_, file->partial_path_)) ::unlink(file->partial_path_.c_str());
  }
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
  // From here on there is nothing to remove. What was synced cannot be lost by closing.
  end_partial();
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
