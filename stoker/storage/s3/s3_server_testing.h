// A store on this machine that speaks S3's protocol: it checks signatures, lists in pages and takes uploads in parts. A
// test may have it answer some requests otherwise.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/storage/http/http_server_testing.h"
#include "stoker/storage/s3/aws_profiles.h"
#include "stoker/storage/s3/s3_store.h"

namespace stoker {

/// Threads: any.
class S3Server {
 public:
  struct Asked {
    std::string method;
    std::string bucket, key;
    std::map<std::string, std::string> query;
    HttpServer::Asked http;

    bool has(const std::string& name) const { return query.count(name) > 0; }
    /// "PUT bucket/key partNumber uploadId"
    std::string summary() const;
  };
  using Reply = HttpServer::Reply;
  /// Nothing: it is answered as it should be.
  using Meddle = std::function<std::optional<Reply>(const Asked&)>;

  static constexpr std::string_view kRegion = "eu-test-1";

  /// With an empty bucket of this name.
  explicit S3Server(std::string bucket = "bucket");

  std::string endpoint() const { return http_->url(""); }
  /// Variables that lead to it, with keys that it takes.
  std::map<std::string, std::string> environment() const;
  static AccessKey key() { return {"TESTKEY", "the/secret+of=tests", ""}; }

  /// It takes these keys alone. Those without an identity stand for requests that are not signed.
  void accept(AccessKey key);
  void meddle(Meddle meddle);
  /// Lists at most so many entries a page.
  void set_page(std::size_t entries);

  void put(const std::string& key, std::string content);
  std::optional<std::string> get(const std::string& key) const;
  std::size_t objects() const;
  /// Completes an upload without an answer.
  void complete_upload(const Asked& asked);
  void forget_uploads();
  /// As a process leaves it that is killed.
  void leave_upload(const std::string& key);
  /// Uploads that were neither completed nor given up.
  std::size_t uploads() const;
  /// The requests so far, as summaries.
  std::vector<std::string> requests() const;
  int count(std::string_view beginning) const;

  /// As the store refuses a request.
  static Reply refusal(int status, std::string_view code, std::string_view more = "");

 private:
  using Parts = std::map<int, std::string>;

  Reply answer(const HttpServer::Asked& http);
  std::optional<Reply> refuse_signature(const Asked& asked) const;
  Reply list(const Asked& asked) const;
  Reply list_uploads(const Asked& asked) const;
  Reply read(const Asked& asked) const;
  Reply put_body(const Asked& asked);
  Reply change_upload(const Asked& asked);
  Reply complete(const Asked& asked, const Parts& parts);

  const std::string bucket_;
  mutable std::mutex mutex_;
  AccessKey key_ = key();
  Meddle meddle_;
  std::size_t page_ = 1000;
  struct Stored {
    std::string content, tag;
  };
  std::map<std::string, Stored> objects_;
  struct Upload {
    std::string key;
    Parts parts;
  };
  std::map<std::string, Upload> uploads_;
  int uploads_begun_ = 0;
  std::vector<std::string> requests_;
  std::unique_ptr<HttpServer> http_;  // last: it calls the rest
};

/// The variables of a map.
Environment environment_of(std::map<std::string, std::string> variables);

/// A store that reaches the server.
std::shared_ptr<S3Store> s3_store(const S3Server& server, HttpOptions http = {}, StoreOptions options = {});
std::shared_ptr<S3Store> s3_store(std::map<std::string, std::string> variables, HttpOptions http = {},
                                  StoreOptions options = {});

}  // namespace stoker
