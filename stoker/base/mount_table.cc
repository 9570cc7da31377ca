#include "stoker/base/mount_table.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

#include "stoker/base/parse_number.h"

namespace stoker {
namespace {

/// Spaces and the like stand as a backslash and three octal digits.
std::string without_escapes(const std::string& text) {
  constexpr std::size_t kDigits = 3;
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = text[i] == '\\' && i + kDigits < text.size()
                          ? parse_number<unsigned char>(std::string_view(text).substr(i + 1, kDigits), 8)
                          : std::nullopt;
    plain += code ? static_cast<char>(*code) : text[i];
    if (code) i += kDigits;
  }
  return plain;
}

/// "36 35 98:0 /root /point rw,noatime [tags] - ext4 /dev/sda1 rw"
std::optional<Mount> parse_mount(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  const auto dash = std::find(words.begin(), words.end(), "-");
  if (dash - words.begin() < 6 || words.end() - dash < 3) return std::nullopt;
  const std::string_view device = words[2];
  const std::size_t colon = device.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto major = parse_number<unsigned>(device.substr(0, colon));
  const auto minor = parse_number<unsigned>(device.substr(colon + 1));
  if (!major || !minor) return std::nullopt;
  Mount mount{.major = *major,
              .minor = *minor,
              .root = without_escapes(words[3]),
              .point = without_escapes(words[4]),
              .file_system = dash[1],
              .source = without_escapes(dash[2]),
              .options = {}};
  if (words.end() - dash > 3) mount.options = without_escapes(dash[3]);
  return mount;
}

bool lies_in(const std::string& path, const std::string& folder) {
  return folder == "/" || path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

}  // namespace

std::vector<Mount> parse_mounts(const std::string& mountinfo) {
  std::vector<Mount> mounts;
  std::istringstream stream(mountinfo);
  for (std::string line; std::getline(stream, line);) {
    if (std::optional<Mount> mount = parse_mount(line)) mounts.push_back(*std::move(mount));
  }
  return mounts;
}

std::vector<Mount> read_mounts(const std::string& root) {
  std::ifstream file(root + "/proc/self/mountinfo");
  return parse_mounts(std::string(std::istreambuf_iterator<char>(file), {}));
}

const Mount* mount_of(const std::vector<Mount>& mounts, const std::string& path) {
  const Mount* found = nullptr;
  for (const Mount& mount : mounts) {
    // A later one hides an earlier one at the same place.
    if (lies_in(path, mount.point) && (!found || mount.point.size() >= found->point.size())) found = &mount;
  }
  return found;
}

}  // namespace stoker
