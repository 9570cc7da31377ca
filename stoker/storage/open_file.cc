#include "stoker/storage/open_file.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "stoker/base/units.h"
#include "stoker/storage/bounce_pool.h"

namespace stoker {
namespace {

constexpr std::uint64_t kAlignmentUnlessTold = 4096;  // enough for every disk and file system in use

/// What memory, offset and size of direct reads have to be multiples of.
std::uint64_t direct_alignment(int fd, std::string_view name) {
#ifdef STATX_DIOALIGN  // Linux 6.1
  struct statx facts;
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) == 0 && (facts.stx_mask & STATX_DIOALIGN) != 0) {
    const std::uint64_t alignment = std::max(facts.stx_dio_mem_align, facts.stx_dio_offset_align);
    if (facts.stx_dio_offset_align == 0 || alignment > BouncePool::kBufferBytes ||
        facts.stx_dio_mem_align > BouncePool::kAlignment) {
      fail_not_direct(name);
    }
    return alignment;
  }
#else
  static_cast<void>(fd);
  static_cast<void>(name);
#endif
  return kAlignmentUnlessTold;
}

}  // namespace

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.string();
}

OpenFile open_file(const std::string& path, std::string_view name, const FileOptions& options) {
  OpenFile file{open_for_reading(AT_FDCWD, path.c_str(), options.direct ? O_DIRECT : 0), {}};
  struct stat facts;
  if (!file.descriptor) {
    const int error = errno;
    // A socket cannot even be opened; what it is says more than why that failed.
    if (::stat(path.c_str(), &facts) == 0) require_regular_file(name, facts.st_mode);
    if (error == EINVAL && options.direct) fail_not_direct(name);
    fail_system("open", name, error);
  }
  const int fd = file.descriptor.get();
  if (::fstat(fd, &facts) != 0) fail_system("look at", name, errno);
  require_regular_file(name, facts.st_mode);
  // It was to keep the opening of a pipe from waiting; reads of a file may wait, and io_uring takes it for their word
  // that they may not.
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0) fail_system("open", name, errno);
  file.facts = facts_of_file(facts);
  if (options.direct) {
    file.facts.direct_alignment = direct_alignment(fd, name);
  } else if (options.random) {
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);  // a hint: that it was refused changes nothing
  }
  return file;
}

FileFacts facts_of_file(const struct stat& found) {
  return {.device = found.st_dev,
          .inode = found.st_ino,
          .size = static_cast<std::uint64_t>(found.st_size),
          .modified = found.st_mtim,
          .changed = found.st_ctim};
}

std::string FileFacts::version() const {
  // Not the device's number, which may be another after a restart.
  return fmt::format("{} {} {}.{:09} {}.{:09}", inode, size, modified.tv_sec, modified.tv_nsec, changed.tv_sec,
                     changed.tv_nsec);
}

void fail_not_direct(std::string_view name) {
  fail(ErrorKind::kIo,
       "cannot read '{}' directly: its file system does not support O_DIRECT; read it through the page cache instead",
       name);
}

void require_same_file(std::string_view name, const FileFacts& before, const FileFacts& now) {
  if (before.device != now.device || before.inode != now.inode) {
    fail(ErrorKind::kData, "'{}' was replaced while in use: it is not the file that was opened before", name);
  }
  if (before.size != now.size) {
    fail(ErrorKind::kData, "'{}' was replaced or truncated while in use: it had {} when opened and now has {}", name,
         byte_count(before.size), now.size);
  }
}

}  // namespace stoker
