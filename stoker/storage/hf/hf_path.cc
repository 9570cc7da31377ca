#include "stoker/storage/hf/hf_path.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"

namespace stoker {
namespace {

constexpr std::string_view kScheme = "hf://";
constexpr std::size_t kCommitDigits = 40;
constexpr std::string_view kDigits = "0123456789";

using Kind = HfRepository::Kind;

constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"datasets/", Kind::kDataset}, {"spaces/", Kind::kSpace}, {"models/", Kind::kModel}};

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool is_repository_word(std::string_view word) {
  return !word.empty() && word != "." && word != ".." && std::all_of(word.begin(), word.end(), [](char c) {
    return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
  });
}

/// Every byte that is neither unreserved nor in `kept` as %XX.
std::string percent_encoded(std::string_view text, std::string_view kept) {
  constexpr std::string_view kUnreserved = "-_.~";
  std::string encoded;
  for (const char c : text) {
    const bool plain = is_alphanumeric(c) || kUnreserved.find(c) != std::string_view::npos;
    if (plain || kept.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

/// A '%' without two hexadecimal digits after it stands for itself.
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text[i] == '%' ? text.substr(i + 1, 2) : std::string_view();
    const auto byte = digits.size() == 2 ? parse_number<std::uint8_t>(digits, 16) : std::nullopt;
    decoded += byte ? static_cast<char>(*byte) : text[i];
    if (byte) i += digits.size();
  }
  return decoded;
}

/// How much of what follows an '@' is the revision.
std::size_t revision_length(std::string_view text) {
  const auto run_from = [&](std::size_t begin, auto belongs) {
    const auto end = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), belongs);
    return static_cast<std::size_t>(end - text.begin());
  };
  constexpr std::string_view kConvert = "refs/convert/", kRequest = "refs/pr/";
  if (text.starts_with(kConvert)) {
    const std::size_t end = run_from(kConvert.size(), [](char c) { return is_alphanumeric(c) || c == '_'; });
    if (end > kConvert.size()) return end;
  }
  if (text.starts_with(kRequest)) {
    const std::size_t end = run_from(kRequest.size(), [](char c) { return kDigits.find(c) != std::string_view::npos; });
    if (end > kRequest.size()) return end;
  }
  return std::min(text.find('/'), text.size());
}

/// Without empty components, "." and ".."; nothing if it leads out of the repository.
std::optional<std::string> plain_path(std::string_view path) {
  std::vector<std::string_view> components;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view component = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (component.empty() || component == ".") continue;
    if (component != "..") {
      components.push_back(component);
    } else if (components.empty()) {
      return std::nullopt;
    } else {
      components.pop_back();
    }
  }
  return fmt::format("{}", fmt::join(components, "/"));
}

/// "/datasets/OWNER/NAME": where its page is.
std::string page_path(const HfRepository& repository) {
  switch (repository.kind) {
    case Kind::kDataset: return "/datasets/" + repository.name;
    case Kind::kSpace: return "/spaces/" + repository.name;
    case Kind::kModel: break;
  }
  return "/" + repository.name;
}

/// "/api/datasets/OWNER/NAME": where the hub tells about it.
std::string api_path(const HfRepository& repository) {
  return fmt::format("/api{}{}", repository.kind == Kind::kModel ? "/models" : "", page_path(repository));
}

}  // namespace

bool is_hf_commit(std::string_view revision) {
  return revision.size() == kCommitDigits && revision.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string_view HfRepository::kind_name() const {
  switch (kind) {
    case Kind::kDataset: return "data set";
    case Kind::kSpace: return "space";
    case Kind::kModel: break;
  }
  return "model";
}

std::optional<HfPath> parse_hf_path(const Location& at) {
  const std::string_view whole = at.text();
  if (!whole.starts_with(kScheme)) return std::nullopt;
  std::string_view rest = whole.substr(kScheme.size());
  HfPath found;
  std::string_view revision;  // as it is written
  for (const auto& [word, kind] : kKinds) {
    if (!rest.starts_with(word)) continue;
    found.repository.kind = kind;
    rest.remove_prefix(word.size());
    break;
  }
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::size_t name_end = std::min(rest.find_first_of("/@", slash + 1), rest.size());
  if (!is_repository_word(rest.substr(0, slash))) return std::nullopt;
  if (!is_repository_word(rest.substr(slash + 1, name_end - slash - 1))) return std::nullopt;
  found.repository.name = rest.substr(0, name_end);
  rest.remove_prefix(name_end);
  if (rest.starts_with('@')) {
    rest.remove_prefix(1);
    const std::size_t length = revision_length(rest);
    revision = rest.substr(0, length);
    found.repository.revision = percent_decoded(revision);
    if (found.repository.revision.empty()) return std::nullopt;
    rest.remove_prefix(length);
  }
  if (!rest.empty() && rest.front() != '/') return std::nullopt;
  std::optional<std::string> path = plain_path(rest);
  if (!path) return std::nullopt;
  // "refs//pr/1" is the folder pr/1 of the branch "refs"; without the empty component it would be a revision.
  if (!revision.empty() && revision_length(fmt::format("{}/{}", revision, *path)) != revision.size()) {
    return std::nullopt;
  }
  found.path = *std::move(path);
  found.root = whole.substr(0, whole.size() - rest.size());
  return found;
}

HfPath require_hf_path(const Location& at) {
  if (std::optional<HfPath> found = parse_hf_path(at)) return *std::move(found);
  fail(ErrorKind::kUsage,
       "'{}' names nothing on the Hugging Face hub; write 'hf://datasets/OWNER/NAME/path', or "
       "'hf://datasets/OWNER/NAME@REVISION/path' with the slashes of the revision as %2F",
       at);
}

std::string hf_page_url(std::string_view endpoint, const HfRepository& repository) {
  return fmt::format("{}{}", endpoint, page_path(repository));
}

std::string hf_revision_url(std::string_view endpoint, const HfRepository& repository) {
  return fmt::format("{}{}/revision/{}?expand=sha", endpoint, api_path(repository),
                     percent_encoded(repository.revision, ""));
}

std::string hf_tree_url(std::string_view endpoint, const HfRepository& repository, std::string_view commit,
                        std::string_view folder, bool recursive) {
  return fmt::format("{}{}/tree/{}{}{}?recursive={}", endpoint, api_path(repository), commit, folder.empty() ? "" : "/",
                     percent_encoded(folder, "/"), recursive);
}

std::string hf_file_url(std::string_view endpoint, const HfRepository& repository, std::string_view commit,
                        std::string_view path) {
  return fmt::format("{}{}/resolve/{}/{}", endpoint, page_path(repository), commit, percent_encoded(path, "/"));
}

}  // namespace stoker
