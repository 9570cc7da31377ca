#include "stoker/storage/file_source.h"

#include <fcntl.h>

#include <cerrno>

#include "stoker/storage/pread_io.h"
#include "stoker/storage/range_check.h"

namespace stoker {

FileSource::FileSource(std::string path, std::shared_ptr<Executor> executor)
    : BlockingSource(std::move(executor)), path_(std::move(path)), fd_(open_for_reading(AT_FDCWD, path_.c_str())) {
  struct stat facts;
  if (!fd_) {
    const int error = errno;
    // A socket cannot even be opened; what it is says more than why that failed.
    if (::stat(path_.c_str(), &facts) == 0) require_regular_file(path_, facts.st_mode);
    fail_system("open", path_, error);
  }
  if (::fstat(fd_.get(), &facts) != 0) fail_system("look at", path_, errno);
  require_regular_file(path_, facts.st_mode);
  size_ = static_cast<std::uint64_t>(facts.st_size);
}

std::uint64_t FileSource::size(std::string_view part) const {
  require_no_part(path_, part);
  return size_;
}

void FileSource::read(std::uint64_t offset, Segments into, std::string_view part) const {
  require_no_part(path_, part);
  require_range_inside(path_, size_, offset, length_of(into));
  FileRead file_read;
  file_read.fd = fd_.get();
  file_read.offset = offset;
  file_read.into = into;
  read_by_preadv(file_read);
  if (file_read.error != 0) fail_system("read", path_, file_read.error);
  if (file_read.count < length_of(into)) {
    fail(ErrorKind::kData, "'{}' was truncated while in use: it had {} bytes when opened and now ends at byte {}",
         path_, size_, offset + file_read.count);
  }
}

}  // namespace stoker
