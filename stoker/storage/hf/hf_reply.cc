#include "stoker/storage/hf/hf_reply.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/json_values.h"
#include "stoker/storage/hf/hf_path.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

/// An entry as far as it was read.
struct ReadEntry {
  HfEntry entry;
  std::string type;
  std::optional<std::uint64_t> size, large_size;
  std::string oid, large_oid;
};

std::string string_of(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

std::optional<std::uint64_t> size_of(const Json& value) {
  return value.is_number_unsigned() ? std::optional(value.get<std::uint64_t>()) : std::nullopt;
}

/// Whether it names something inside the repository.
bool is_plain_path(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) return false;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view component = path.substr(0, end);
    if (component.empty() || component == "." || component == "..") return false;
    if (end + 1 == path.size()) return false;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return true;
}

/// Nothing for what is neither a file nor a folder, such as a submodule.
std::optional<HfEntry> entry_of(ReadEntry read) {
  if (read.type != "file" && read.type != "directory") return std::nullopt;
  if (!is_plain_path(read.entry.path)) fail(ErrorKind::kData, "the hub lists something without a name");
  read.entry.is_folder = read.type == "directory";
  if (read.entry.is_folder) return std::move(read.entry);
  // Of a file that is kept apart from the repository, which has its hash alone.
  const std::optional<std::uint64_t> size = read.large_size ? read.large_size : read.size;
  if (!size) fail(ErrorKind::kData, "the hub lists '{}' without its size", read.entry.path);
  read.entry.size = *size;
  read.entry.tag = std::move(read.large_oid.empty() ? read.oid : read.large_oid);
  return std::move(read.entry);
}

[[noreturn]] void fail_no_listing() { fail(ErrorKind::kData, "what the hub answers is not a listing"); }

}  // namespace

std::vector<HfEntry> parse_hf_tree(std::string_view json) {
  std::vector<HfEntry> entries;
  std::optional<ReadEntry> now;
  const auto finish = [&] {
    std::optional<ReadEntry> read = std::exchange(now, std::nullopt);
    if (!read) return;
    if (std::optional<HfEntry> entry = entry_of(*std::move(read))) entries.push_back(*std::move(entry));
  };
  bool is_list = false;
  const bool is_json = for_each_json_value(json, [&](const std::string& pointer, Json value) {
    if (pointer.empty()) is_list = value.is_array();
    if (!is_list || pointer.empty()) return;
    const std::size_t slash = pointer.find('/', 1);
    if (slash == std::string::npos) {
      finish();
      now.emplace();
      return;
    }
    const std::string_view key = std::string_view(pointer).substr(slash);
    if (key == "/type") now->type = string_of(value);
    if (key == "/path") now->entry.path = string_of(value);
    if (key == "/size") now->size = size_of(value);
    if (key == "/oid") now->oid = string_of(value);
    if (key == "/lfs/size") now->large_size = size_of(value);
    if (key == "/lfs/oid") now->large_oid = string_of(value);
  });
  if (!is_json || !is_list) fail_no_listing();
  finish();
  return entries;
}

std::string parse_hf_commit(std::string_view json) {
  std::string commit;
  const bool is_json = for_each_json_value(json, [&](const std::string& pointer, const Json& value) {
    if (pointer == "/sha") commit = string_of(value);
  });
  if (!is_json || !is_hf_commit(commit)) fail(ErrorKind::kData, "the hub does not say which commit it is");
  return commit;
}

std::optional<std::string> parse_hf_next(std::string_view link) {
  // <URL>; rel="next", <URL>; rel="first"
  while (!link.empty()) {
    const std::size_t open = link.find('<');
    const std::size_t close = open == std::string_view::npos ? open : link.find('>', open);
    if (close == std::string_view::npos) fail_no_listing();
    const std::string_view url = link.substr(open + 1, close - open - 1);
    link.remove_prefix(close + 1);
    const std::size_t end = std::min(link.find(','), link.size());
    const std::string_view parameters = link.substr(0, end);
    link.remove_prefix(std::min(end + 1, link.size()));
    if (parameters.find("rel=\"next\"") == std::string_view::npos &&
        parameters.find("rel=next") == std::string_view::npos) {
      continue;
    }
    const std::size_t query = url.find('?');
    const bool is_plain =
        std::all_of(url.begin(), url.end(), [](unsigned char c) { return c > ' ' && c != 0x7f && c != '#'; });
    if (query == std::string_view::npos || !is_plain) fail_no_listing();
    return std::string(url.substr(query));
  }
  return std::nullopt;
}

}  // namespace stoker
