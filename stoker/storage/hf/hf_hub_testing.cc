#include "stoker/storage/hf/hf_hub_testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "stoker/base/hash.h"
#include "stoker/base/parse_number.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using Asked = HttpServer::Asked;
using Reply = HttpServer::Reply;

constexpr std::string_view kApi = "/api/datasets/o/n/", kFiles = "/datasets/o/n/resolve/";

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      plain += static_cast<char>(parse_number<std::uint8_t>(text.substr(i + 1, 2), 16).value());
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::string commit_id(std::size_t number) { return fmt::format("{:040x}", number); }

std::string tag_of(const std::string& content) { return to_hex(hash64(content)); }

Reply none(std::string_view code) { return HttpServer::status(404, fmt::format("X-Error-Code: {}\r\n", code)); }

}  // namespace

FakeHub::FakeHub()
    : commits_(1),
      branches_{{"main", 0}},
      files_([this](const Asked& asked) { return answer_files(asked); }),
      hub_([this](const Asked& asked) { return answer(asked); }) {}

void FakeHub::push(const std::string& path, std::string content) {
  const std::lock_guard lock(mutex_);
  commits_.push_back(commits_[branches_.at("main")]);
  commits_.back()[path] = std::move(content);
  branches_["main"] = commits_.size() - 1;
}

std::string FakeHub::head() const {
  const std::lock_guard lock(mutex_);
  return commit_id(branches_.at("main"));
}

void FakeHub::branch(const std::string& name) {
  const std::lock_guard lock(mutex_);
  branches_[name] = branches_.at("main");
}

void FakeHub::answer_instead(Instead hub) {
  const std::lock_guard lock(mutex_);
  instead_ = std::move(hub);
}

void FakeHub::answer_files_instead(Instead files) {
  const std::lock_guard lock(mutex_);
  instead_of_files_ = std::move(files);
}

std::shared_ptr<HfStore> FakeHub::make_store(std::string token) {
  HttpOptions options;
  options.delay_first = std::chrono::milliseconds(1);
  options.delay_most = std::chrono::milliseconds(5);
  return std::make_shared<HfStore>(
      std::make_shared<HttpTransport>(options, [] { return std::make_shared<ThreadExecutor>(1); }),
      [access = HfAccess{.endpoint = endpoint(), .token = std::move(token)}] { return access; });
}

int FakeHub::requests_for(std::string_view part) const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::count_if(targets_.begin(), targets_.end(), [&](const std::string& target) {
    return target.find(part) != std::string::npos;
  }));
}

const FakeHub::Tree* FakeHub::tree_of(const std::string& revision) const {
  if (const auto branch = branches_.find(revision); branch != branches_.end()) return &commits_[branch->second];
  const auto number = parse_number<std::size_t>(revision, 16);
  return number && *number < commits_.size() && revision == commit_id(*number) ? &commits_[*number] : nullptr;
}

Reply FakeHub::answer(const Asked& asked) {
  const std::lock_guard lock(mutex_);
  targets_.push_back(asked.target);
  if (instead_) {
    if (std::optional<Reply> other = instead_(asked)) return *std::move(other);
  }
  const std::string path = asked.target.substr(0, asked.target.find('?'));
  if (path.starts_with(kFiles)) return resolve(asked, path.substr(kFiles.size()));
  if (!path.starts_with(kApi)) return none("RepoNotFound");
  const std::string rest = path.substr(kApi.size());
  if (rest.starts_with("tree/")) return list(asked.target, rest.substr(5));
  EXPECT_TRUE(rest.starts_with("revision/")) << asked.target;
  const std::string revision = decoded(rest.substr(rest.find('/') + 1));
  const Tree* const tree = tree_of(revision);
  if (tree == nullptr) return none("RevisionNotFound");
  const std::string id = commit_id(static_cast<std::size_t>(tree - commits_.data()));
  return HttpServer::status(200, "", nlohmann::json{{"id", "o/n"}, {"sha", id}}.dump());
}

Reply FakeHub::list(const std::string& target, const std::string& rest) {
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const Tree* const tree = tree_of(rest.substr(0, slash));
  if (tree == nullptr) return none("RevisionNotFound");
  const std::string folder = decoded(std::string_view(rest).substr(std::min(slash + 1, rest.size())));
  const bool recursive = target.find("recursive=true") != std::string::npos;
  const std::string prefix = folder.empty() ? "" : folder + "/";
  std::vector<nlohmann::json> entries;
  std::set<std::string> folders;
  for (const auto& [path, content] : *tree) {
    if (!path.starts_with(prefix)) continue;
    for (std::size_t end = path.find('/', prefix.size()); end != std::string::npos; end = path.find('/', end + 1)) {
      if (folders.insert(path.substr(0, end)).second) {
        entries.push_back({{"type", "directory"}, {"path", path.substr(0, end)}, {"size", 0}});
      }
      if (!recursive) break;
    }
    if (!recursive && path.find('/', prefix.size()) != std::string::npos) continue;
    nlohmann::json entry{{"type", "file"}, {"path", path}, {"oid", tag_of(content)}, {"size", content.size()}};
    if (content.size() >= large_bytes) {
      entry["lfs"] = {{"oid", "sha-" + tag_of(content)}, {"size", content.size()}, {"pointerSize", 134}};
    }
    entries.push_back(std::move(entry));
  }
  if (entries.empty() && !folder.empty()) return none("EntryNotFound");
  const std::size_t cursor = target.find("cursor=");
  const std::size_t begin =
      cursor == std::string::npos ? 0 : parse_number<std::size_t>(std::string_view(target).substr(cursor + 7)).value();
  const std::size_t end = std::min(begin + page_entries, entries.size());
  std::string fields;
  if (end < entries.size()) {
    // As a mirror hands it out: of the hub that it mirrors.
    fields = fmt::format("Link: <https://hub.invalid{}?recursive={}&cursor={}>; rel=\"next\"\r\n",
                         target.substr(0, target.find('?')), recursive, end);
  }
  nlohmann::json page = nlohmann::json::array();
  for (std::size_t i = begin; i < end; ++i) page.push_back(entries[i]);
  return HttpServer::status(200, fields, page.dump());
}

Reply FakeHub::resolve(const Asked& asked, const std::string& rest) {
  const std::size_t slash = rest.find('/');
  const std::string commit = rest.substr(0, slash);
  const Tree* const tree = tree_of(commit);
  if (tree == nullptr) return none("RevisionNotFound");
  const auto file = tree->find(decoded(std::string_view(rest).substr(slash + 1)));
  if (file == tree->end()) return none("EntryNotFound");
  if (file->second.size() < large_bytes) {
    return HttpServer::serve(asked, file->second, fmt::format("\"{}\"", tag_of(file->second)));
  }
  return HttpServer::status(
      302, fmt::format("X-Repo-Commit: {}\r\nX-Linked-Size: {}\r\nX-Linked-Etag: \"sha-{}\"\r\nLocation: {}\r\n",
                       commit, file->second.size(), tag_of(file->second),
                       files_.url(fmt::format("/{}?Signature=s1gn3d-{}", rest, ++signatures_))));
}

Reply FakeHub::answer_files(const Asked& asked) {
  EXPECT_EQ(asked.field("authorization"), "") << "the token is told to another server";
  const std::lock_guard lock(mutex_);
  if (instead_of_files_) {
    if (std::optional<Reply> other = instead_of_files_(asked)) return *std::move(other);
  }
  const std::string rest = asked.target.substr(1, asked.target.find('?') - 1);
  const std::size_t slash = rest.find('/');
  const Tree* const tree = tree_of(rest.substr(0, slash));
  if (tree == nullptr) return HttpServer::status(404);
  return HttpServer::serve(asked, tree->at(decoded(std::string_view(rest).substr(slash + 1))), "\"of its own\"");
}

}  // namespace stoker
