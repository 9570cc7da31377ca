// A Hugging Face hub on this machine, with one data set, "o/n": what it keeps apart from the repository it serves by
// another server, whose URLs are signed, and which must not be told the token.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/storage/hf/hf_store.h"
#include "stoker/storage/http/http_server_testing.h"

namespace stoker {

/// Threads: any; what is changed while a request is under way may or may not count for it.
class FakeHub {
 public:
  FakeHub();

  /// Pushes a commit to `main` that has also this file.
  void push(const std::string& path, std::string content);
  /// The commit that `main` is at.
  std::string head() const;
  /// Makes `name` another name of that commit.
  void branch(const std::string& name);

  std::string endpoint() const { return hub_.url(""); }
  /// A store that reads from it with that token.
  std::shared_ptr<HfStore> make_store(std::string token = "hf_s3cr3t");

  using Instead = std::function<std::optional<HttpServer::Reply>(const HttpServer::Asked&)>;
  /// Answers in place of the hub, or of where it keeps large files, where it returns something.
  void answer_instead(Instead hub);
  void answer_files_instead(Instead files);

  // To be set before the first request.
  std::size_t page_entries = 1000;
  std::size_t large_bytes = 6;  // files of that size or more are kept apart

  int requests() const { return hub_.requests(); }
  int file_requests() const { return files_.requests(); }
  /// How many requests with that in their targets came to the hub.
  int requests_for(std::string_view part) const;

 private:
  using Tree = std::map<std::string, std::string>;  // contents by path

  HttpServer::Reply answer(const HttpServer::Asked& asked);
  HttpServer::Reply answer_files(const HttpServer::Asked& asked);
  HttpServer::Reply list(const std::string& target, const std::string& rest);
  HttpServer::Reply resolve(const HttpServer::Asked& asked, const std::string& rest);
  /// Null where there is no such revision.
  const Tree* tree_of(const std::string& revision) const;

  mutable std::mutex mutex_;
  std::vector<Tree> commits_;
  std::map<std::string, std::size_t> branches_;
  std::vector<std::string> targets_;
  Instead instead_, instead_of_files_;
  std::atomic<int> signatures_ = 0;
  HttpServer files_, hub_;
};

}  // namespace stoker
