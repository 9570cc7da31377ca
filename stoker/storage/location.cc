#include "stoker/storage/location.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/storage/open_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

/// The length of the scheme that a URL begins with; 0 for what is not a URL.
std::size_t scheme_length(std::string_view text) {
  constexpr auto kInScheme = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  const std::size_t length = text.find("://");
  if (length == 0 || length == std::string_view::npos || text[0] < 'a' || text[0] > 'z') return 0;
  const std::string_view scheme = text.substr(0, length);
  return std::all_of(scheme.begin(), scheme.end(), kInScheme) ? length : 0;
}

}  // namespace

Location::Location(std::string text) : text_(std::move(text)), scheme_(scheme_length(text_)) {}

std::string Location::name() const { return fs::path(path()).filename().string(); }

Location Location::parent() const { return text_.substr(0, root()) + fs::path(path()).parent_path().string(); }

Location Location::operator/(std::string_view relative) const {
  Location other{std::string(relative)};
  if (!other.is_local() || relative.starts_with('/')) return other;
  return text_.substr(0, root()) + (fs::path(path()) / relative).string();
}

Location Location::operator+(std::string_view ending) const {
  std::string longer = text_;
  return longer.insert(end_of_path(text_), ending);
}

void require_local(const std::string& path, std::string_view option) {
  if (path == "~" || path.starts_with("~/")) {
    fail(ErrorKind::kUsage,
         "{} is '{}', and only a shell replaces '~' by the home folder; write $HOME in a shell, or "
         "os.path.expanduser(path) in Python",
         option, path);
  }
  const Location at(path);
  if (at.is_local()) return;
  fail(ErrorKind::kUsage,
       "{} writes to local files alone, and '{}' is a URL; give a path, and copy the file from there", option, at);
}

Location Location::absolute() const { return is_local() ? Location(absolute_path(text_)) : *this; }

}  // namespace stoker
