#include "stoker/format/open/path_pattern.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"

namespace stoker {
namespace {

constexpr std::size_t kMaxPaths = 1'000'000;

/// The parts of "a,{b,c},d" between commas that are in no inner brace.
std::vector<std::string_view> split_list(std::string_view body) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < body.size(); ++i) {
    depth += body[i] == '{' ? 1 : body[i] == '}' ? -1 : 0;
    if (body[i] != ',' || depth != 0) continue;
    parts.push_back(body.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(body.substr(begin));
  return parts;
}

/// For messages: what was perhaps meant by a path that looks like a URL, as "S3://a" and "s3:/a" do, or begins with
/// "~".
std::string what_was_meant(const Location& path) {
  const std::string& text = path.text();
  if (text == "~" || text.starts_with("~/")) {
    return "; only a shell replaces '~' by the home folder: in Python give os.path.expanduser(path)";
  }
  const std::size_t colon = text.find(":/");
  std::string scheme = text.substr(0, std::min(colon, text.size()));
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (scheme != "s3" && scheme != "gs" && scheme != "http" && scheme != "https" && scheme != "hf") return "";
  const std::size_t rest = std::min(text.find_first_not_of('/', colon + 1), text.size());
  return fmt::format("; is it the URL '{}'? (pathlib makes one slash of two: give a str)",
                     Location(scheme + "://" + text.substr(rest)));
}

/// "000..146" as its numbers, zero-padded where either end is; nothing when `body` is not a range.
std::optional<std::vector<std::string>> expand_range(std::string_view body, std::string_view pattern) {
  const std::size_t dots = body.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const std::string_view first_text = body.substr(0, dots), last_text = body.substr(dots + 2);
  const auto first = parse_number<std::uint64_t>(first_text), last = parse_number<std::uint64_t>(last_text);
  if (!first || !last) return std::nullopt;
  if (*first > *last) fail(ErrorKind::kUsage, "the range {{{}}} in '{}' is backwards", body, pattern);
  if (*last - *first >= kMaxPaths) {
    fail(ErrorKind::kLimit, "the range {{{}}} in '{}' stands for more than a million paths", body, pattern);
  }
  const bool padded = (first_text.size() > 1 && first_text[0] == '0') || (last_text.size() > 1 && last_text[0] == '0');
  const std::size_t width = padded ? std::max(first_text.size(), last_text.size()) : 0;
  std::vector<std::string> numbers;
  for (std::uint64_t i = 0; i <= *last - *first; ++i) numbers.push_back(fmt::format("{:0{}}", *first + i, width));
  return numbers;
}

/// Where the brace that opens at `open` closes; npos when it does not.
std::size_t closing_brace(std::string_view pattern, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < pattern.size(); ++i) {
    depth += pattern[i] == '{' ? 1 : pattern[i] == '}' ? -1 : 0;
    if (depth == 0) return i;
  }
  return std::string_view::npos;
}

/// What the inside of one brace stands for; nothing when it stands for itself.
std::optional<std::vector<std::string>> expand_body(std::string_view body, std::string_view pattern) {
  if (auto range = expand_range(body, pattern)) return range;
  const std::vector<std::string_view> parts = split_list(body);
  if (parts.size() < 2) return std::nullopt;
  std::vector<std::string> expanded;
  for (const std::string_view part : parts) {
    for (std::string& path : expand_braces(part)) expanded.push_back(std::move(path));
  }
  return expanded;
}

bool is_wild(const Location& path) { return path.text().find_first_of("*?[") != std::string::npos; }

/// Shells that know "**" look at any depth; taken as "*", it would leave out a part of the data without a word.
void require_no_double_star(const Location& path) {
  if (fmt::format("/{}/", path.text()).find("/**/") == std::string::npos) return;
  fail(ErrorKind::kUsage,
       "'{}': a pattern has no '**'; write '*' for each folder on the way, as in '*/*.tar', or give a text file of the "
       "paths, as `find` lists them",
       path);
}

/// Throws the reason why a path that `pattern` stands for cannot be looked at: it may only be forbidden.
void require_there(const Store& store, const Location& path, const Location& pattern) {
  try {
    store.stat(path, "open");
  } catch (const Error& error) {
    if (!path.is_local() || error.kind() != ErrorKind::kNotFound) throw;
    if (path == pattern) fail(error.kind(), "there is no file or folder '{}'{}", path, what_was_meant(path));
    fail(error.kind(), "there is no file or folder '{}', which '{}' stands for", path, pattern);
  }
}

/// What one path stands for once its braces are expanded.
std::vector<Location> expand_path(const Location& path, const Location& pattern, const Stores& stores) {
  const Store& store = stores.of(path);
  if (store.find(path)) return {path};
  if (!is_wild(path)) {
    require_there(store, path, pattern);
    return {path};
  }
  require_no_double_star(path);
  std::vector<Location> matches = store.match(path);
  if (matches.empty()) fail(ErrorKind::kNotFound, "no file matches '{}'", path);
  return matches;
}

}  // namespace

std::vector<std::string> expand_braces(std::string_view pattern) {
  for (std::size_t open = pattern.find('{'); open != std::string_view::npos; open = pattern.find('{', open + 1)) {
    const std::size_t close = closing_brace(pattern, open);
    if (close == std::string_view::npos) continue;
    const auto middles = expand_body(pattern.substr(open + 1, close - open - 1), pattern);
    if (!middles) continue;
    const std::vector<std::string> tails = expand_braces(pattern.substr(close + 1));
    if (middles->size() * tails.size() > kMaxPaths) {
      fail(ErrorKind::kLimit, "'{}' stands for more than a million paths", pattern);
    }
    std::vector<std::string> paths;
    for (const std::string& middle : *middles) {
      for (const std::string& tail : tails)
        paths.push_back(fmt::format("{}{}{}", pattern.substr(0, open), middle, tail));
    }
    return paths;
  }
  return {std::string(pattern)};
}

std::vector<Location> expand_pattern(const Location& pattern, const Stores& stores) {
  if (stores.find(pattern)) return {pattern};
  std::vector<Location> found;
  const std::vector<std::string> texts = expand_braces(pattern.text());
  const std::vector<Location> paths(texts.begin(), texts.end());
  stores.expect(paths);
  for (const Location& path : paths) {
    std::vector<Location> its = expand_path(path, pattern, stores);
    found.insert(found.end(), std::make_move_iterator(its.begin()), std::make_move_iterator(its.end()));
  }
  return found;
}

}  // namespace stoker
