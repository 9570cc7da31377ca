#include "cli/quarantine_list.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <nlohmann/json.hpp>

#include "stoker/base/error.h"
#include "stoker/format/bad_sample.h"
#include "stoker/storage/posix_file.h"
#include "stoker/storage/pread_io.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFirstLineMax = 1 << 20;  // a line of a list names one sample, and says why

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

/// Throws kUsage where a list may not be: in the folder `not_in`, or in place of another file.
void check_place(const std::string& path, const std::string& place, const std::string& not_in) {
  if (!not_in.empty() && lies_in(place, not_in)) {
    fail(ErrorKind::kUsage, "'{}' is in '{}', which may hold only the pack; choose another folder", path, not_in);
  }
  std::error_code error;  // ignored: there is nothing to replace then
  const bool holds_something = fs::file_size(place, error) > 0 && !error;
  if (holds_something && !holds_list(place)) {
    fail(ErrorKind::kUsage, "'{}' exists and is not a list of bad samples; choose another name", path);
  }
}

}  // namespace

QuarantineList::QuarantineList(const std::string& path, const std::string& not_in) {
  std::error_code error;  // ignored: what cannot be examined is told next
  if (fs::is_directory(path, error)) {
    fail(ErrorKind::kUsage, "'{}' is a folder; choose another name", path);
  }
  const std::string place = replaced_file(path);
  if (!place.empty()) check_place(path, place, not_in);
  file_.emplace(path);
}

void QuarantineList::write(const std::vector<BadSample>& samples) {
  std::string lines;
  for (const BadSample& sample : samples) lines += bad_sample_line(sample);
  file_->write(as_bytes(lines));
  file_->commit();
}

}  // namespace stoker
