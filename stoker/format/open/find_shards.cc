#include "stoker/format/open/find_shards.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/format/member_name.h"
#include "stoker/format/open/path_pattern.h"
#include "stoker/format/shard_format.h"
#include "stoker/format/text_lines.h"

namespace stoker {
namespace {

constexpr std::uint64_t kListBytesMax = 64 << 20;

const ShardFormat* format_of(const std::string& path) {
  for (const ShardFormat* format : shard_formats()) {
    if (format->recognises(path)) return format;
  }
  return nullptr;
}

[[noreturn]] void fail_unknown_kind(const std::string& path) {
  std::string known;
  for (const ShardFormat* format : shard_formats()) known += fmt::format("{}, ", format->name());
  fail(ErrorKind::kData, "'{}' is no kind of data that Stoker knows ({}or a text file of paths)", path, known);
}

bool is_image_name(const std::string& file) {
  const auto split = split_member_name(file);
  return split && is_image_field_name(split->field);
}

bool holds_images(const std::filesystem::path& folder) {
  constexpr auto kPassOver = std::filesystem::directory_options::skip_permission_denied;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(folder, kPassOver, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    if (is_image_name(entry->path().filename().string())) return true;
  }
  return false;
}

/// The tars that lie directly in a folder: a packed data set given by its folder. None where it has class folders.
std::vector<std::string> tars_in_folder(const std::string& path) {
  std::vector<std::string> tars, images;
  std::vector<std::filesystem::path> folders;
  std::string lower_case;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with('.')) continue;
    if (std::error_code ignored; entry->is_directory(ignored)) {
      folders.push_back(entry->path());
      continue;
    }
    if (is_image_name(name)) images.push_back(name);
    assign_lower_case(lower_case, name);
    if (lower_case.ends_with(".tar")) tars.push_back(entry->path().string());
  }
  if (error || tars.empty()) return {};  // what is wrong the folder's own scan says
  if (std::any_of(folders.begin(), folders.end(), holds_images)) {
    log(LogLevel::kWarning, "'{}': {} tars beside its class folders are passed over", path, tars.size());
    return {};
  }
  std::sort(tars.begin(), tars.end());
  if (!images.empty()) {
    fail(ErrorKind::kUsage,
         "'{}' holds tars and images, '{}' for instance; say '{}/*.tar' for the tars, or move them away", path,
         images.front(), path);
  }
  return tars;
}

/// The paths in a text file: one a line, relative to the file's folder.
std::vector<std::pair<int, std::string>> read_path_list(const std::string& path) {
  const std::optional<std::vector<TextLine>> lines = read_text_lines(path, kListBytesMax);
  if (!lines) fail_unknown_kind(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::vector<std::pair<int, std::string>> paths;
  for (const TextLine& line : *lines) paths.emplace_back(line.number, (folder / line.text).string());
  return paths;
}

/// Adds the shards that one path stands for.
void add_shards(const std::string& path, bool from_list, Manifests& manifests, std::vector<ShardPath>& shards,
                const std::stop_token& stop) {
  stop_if_asked(stop, path);
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0) fail_system("open", path, errno);
  if (S_ISDIR(facts.st_mode)) {
    std::vector<std::string> tars = manifests.shards_of(path);
    if (tars.empty()) tars = tars_in_folder(path);
    for (const std::string& tar : tars) {
      const ShardFormat* const format = format_of(tar);
      if (!format) fail_unknown_kind(tar);  // a manifest may list anything
      shards.push_back({tar, format});
    }
    if (!tars.empty()) return;
  } else {
    require_regular_file(path, facts.st_mode);
  }
  if (const ShardFormat* format = format_of(path)) {
    shards.push_back({path, format});
    return;
  }
  if (from_list) fail_unknown_kind(path);
  for (const auto& [line, listed] : read_path_list(path)) {
    try {
      for (const std::string& expanded : expand_pattern(listed)) add_shards(expanded, true, manifests, shards, stop);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kClosed) throw;
      throw error.with_context(fmt::format("'{}', line {}", path, line));
    }
  }
}

}  // namespace

std::vector<ShardPath> find_shards(const std::vector<std::string>& data, Manifests& manifests,
                                   const std::stop_token& stop) {
  std::vector<ShardPath> shards;
  for (const std::string& pattern : data) {
    if (pattern == "-")
      fail(ErrorKind::kUsage, "data cannot come from a pipe: Stoker reads by range, so give it a file");
    for (const std::string& path : expand_pattern(pattern)) {
      add_shards(path, false, manifests, shards, stop);
    }
  }
  return shards;
}

}  // namespace stoker
