#include "cli/quarantine_list.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "stoker/base/error.h"
#include "stoker/format/bad_sample.h"
#include "stoker/storage/pread_io.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFirstLineMax = 1 << 20;  // a line of a list names one sample, and says why

/// The end of a chain of symbolic links; it need not exist.
std::string follow_links(const std::string& path) {
  constexpr int kLinksMax = 40;  // as the kernel follows
  fs::path at = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(at, error); ++links) {
    if (links == kLinksMax) fail_system("open", path, ELOOP);
    const fs::path target = fs::read_symlink(at, error);
    if (error) fail_system("open", path, error.value());
    at = at.parent_path() / target;
  }
  return at.string();
}

/// One path for each place, without a trailing slash; the place need not exist.
fs::path plain(const fs::path& path) {
  std::error_code error;  // ignored: opening reports what cannot be examined
  const fs::path canonical = fs::weakly_canonical(fs::absolute(path, error), error);
  return canonical.has_filename() ? canonical : canonical.parent_path();
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  const fs::path inner = plain(path), outer = plain(folder);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

/// A copy of our standard output or error, if the path leads to one of them. If opened by its name, it would have a
/// separate position, and a file would be replaced while the rest of the output goes to the old one.
FileDescriptor own_output(const struct stat& facts) {
  for (const int own : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat output;
    if (::fstat(own, &output) != 0 || output.st_dev != facts.st_dev || output.st_ino != facts.st_ino) continue;
    return FileDescriptor(::fcntl(own, F_DUPFD_CLOEXEC, 0));
  }
  return FileDescriptor();
}

FileDescriptor open_through(const std::string& path) {
  int fd;
  do {
    fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) fail_system("open", path, errno);
  return FileDescriptor(fd);
}

bool holds_list(const std::string& path) {
  const FileDescriptor file = open_for_reading(AT_FDCWD, path.c_str());
  if (!file) fail_system("open", path, errno);
  std::vector<std::uint8_t> bytes(kFirstLineMax);
  const MutableBytes into(bytes);
  const FileRead read = read_by_preadv(file.get(), 0, Pieces(&into, 1));
  if (read.error != 0) fail_system("read", path, read.error);
  const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(read.count);
  const auto line_end = std::find(bytes.begin(), end, '\n');
  if (line_end == end) return false;
  const auto line = nlohmann::json::parse(bytes.begin(), line_end, nullptr, false);
  return line.is_object() && line.contains("shard") && line.contains("reason");
}

}  // namespace

QuarantineList::QuarantineList(const std::string& path, const std::string& not_in) : path_(path) {
  struct stat facts;
  const bool exists = ::stat(path.c_str(), &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) fail(ErrorKind::kUsage, "'{}' is a folder; choose another name", path);
  if (exists) through_ = own_output(facts);
  if (through_) return;
  if (exists && !S_ISREG(facts.st_mode)) {
    through_ = open_through(path);
    return;
  }
  const std::string place = follow_links(path);
  if (!not_in.empty() && lies_in(place, not_in)) {
    fail(ErrorKind::kUsage, "'{}' is in '{}', which may hold only the pack; choose another folder", path, not_in);
  }
  if (exists && facts.st_size > 0 && !holds_list(place)) {
    fail(ErrorKind::kUsage, "'{}' exists and is not a list of bad samples; choose another name", path);
  }
  file_.emplace(place);
}

void QuarantineList::write(const std::vector<BadSample>& samples) {
  std::string lines;
  for (const BadSample& sample : samples) lines += bad_sample_line(sample);
  if (file_) {
    file_->write(as_bytes(lines));
    return file_->commit();
  }
  for (std::string_view rest = lines; !rest.empty();) {
    const ssize_t written = ::write(through_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_system("write", path_, errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace stoker
