#include "stoker/storage/folder_source.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/storage/local_folder.h"
#include "stoker/storage/pread_io.h"
#include "stoker/storage/run_in_turn.h"

namespace stoker {
namespace {

/// A part name with a NUL at its end, without allocating.
class PartName {
 public:
  PartName(const std::string& root, std::string_view part) {
    if (part.empty()) fail(ErrorKind::kNotFound, "'{}' is a folder; a read must name a file in it", root);
    if (part.front() == '/' || part.find('\0') != std::string_view::npos || climbs(part)) {
      fail(ErrorKind::kNotFound, "'{}' does not name a file inside the folder '{}'", part, root);
    }
    if (part.size() >= text_.size()) fail_system("open", part, ENAMETOOLONG);
    *std::copy(part.begin(), part.end(), text_.begin()) = '\0';
  }

  const char* c_str() const { return text_.data(); }

 private:
  static bool climbs(std::string_view part) {
    return part == ".." || part.starts_with("../") || part.find("/../") != std::string_view::npos;
  }

  std::array<char, PATH_MAX> text_;  // left uninitialised beyond the name: this is on every read's path
};

}  // namespace

FolderSource::FolderSource(std::string root, std::shared_ptr<Executor> executor)
    : executor_(std::move(executor)), root_(std::move(root)), folder_(open_folder(AT_FDCWD, root_.c_str())) {
  if (!folder_) fail_system("open the folder", root_, errno);
}

std::uint64_t FolderSource::size(std::string_view part) const {
  const PartName name(root_, part);
  struct stat facts;
  if (::fstatat(folder_.get(), name.c_str(), &facts, 0) != 0) fail_system("look at", path_of(part), errno);
  require_regular_file(path_of(part), facts.st_mode, ErrorKind::kData);
  return static_cast<std::uint64_t>(facts.st_size);
}

void FolderSource::start(ReadRequest& request) {
  request.error = nullptr;
  request.source = this;
  // The request itself is the task's context, so that nothing needs to be allocated.
  if (!leave_to_turn(executor_.get(), IntrusiveQueue(request))) executor_->submit({run, &request});
}

void FolderSource::run(void* context) noexcept {
  auto& first = *static_cast<ReadRequest*>(context);
  const auto* const executor = static_cast<const FolderSource*>(first.source)->executor_.get();
  run_in_turn(executor, IntrusiveQueue(first), [](ReadRequest& request) {
    request.error = thrown_by([&] {
      const auto& source = static_cast<const FolderSource&>(*request.source);
      require_wanted(source.name(), request);
      source.read(request.offset, request.into, request.part);
    });
    request.done(request);  // the caller may destroy both the request and its source from here on
  });
}

void FolderSource::read(std::uint64_t offset, Pieces into, std::string_view part) const {
  const PartName name(root_, part);
  const FileDescriptor fd = open_for_reading(folder_.get(), name.c_str());
  if (!fd) fail_system("open", path_of(part), errno);
  const FileRead file_read = read_by_preadv(fd.get(), offset, into);
  const std::uint64_t length = length_of(into);
  const bool complete = file_read.error == 0 && file_read.count == length;
  if (complete && length > 0 && std::none_of(into.begin(), into.end(), is_hole)) return;

  // Something is off, or something was not read; only now is the file's nature worth another system call.
  struct stat facts;
  if (::fstat(fd.get(), &facts) != 0) fail_system("look at", path_of(part), errno);
  if (!S_ISREG(facts.st_mode)) require_regular_file(path_of(part), facts.st_mode, ErrorKind::kData);
  if (file_read.error != 0) fail_system("read", path_of(part), file_read.error);
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  if (complete && offset <= size && length <= size - offset) return;
  fail(ErrorKind::kData,
       "'{}' changed or was truncated since it was listed: it has {}, too few for the {} asked for at byte {}",
       path_of(part), byte_count(size), byte_count(length), offset);
}

std::unique_ptr<Folder> FolderSource::list(std::string_view part) const {
  FileDescriptor folder = open_folder(folder_.get(), part.empty() ? "." : std::string(part).c_str());
  std::string path = part.empty() ? root_ : path_of(part);
  if (!folder && errno == EACCES) return nullptr;
  if (!folder) fail_system("open the folder", path, errno);
  return std::make_unique<LocalFolder>(std::move(folder), std::move(path));
}

std::string FolderSource::path_of(std::string_view part) const { return path_in(root_, part); }

}  // namespace stoker
