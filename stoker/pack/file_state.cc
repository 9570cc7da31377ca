#include "stoker/pack/file_state.h"

#include <cerrno>
#include <utility>

#include "stoker/storage/posix_file.h"

namespace stoker {
namespace {

struct stat state_of(const std::string& path) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0) fail_system("look at", path, errno);
  return facts;
}

}  // namespace

FileState::FileState(std::string path) : path_(std::move(path)), facts_(state_of(path_)) {}

std::string FileState::describe() const {
  // Not the device's number, which may be another after a restart.
  return fmt::format("{} {} {}.{:09}", facts_.st_ino, facts_.st_size, facts_.st_mtim.tv_sec, facts_.st_mtim.tv_nsec);
}

void FileState::require_unchanged() const {
  if (FileState(path_).describe() == describe()) return;
  fail(ErrorKind::kData, "'{}' was changed while it was read; start again once nobody writes to it", path_);
}

}  // namespace stoker
