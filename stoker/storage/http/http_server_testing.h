// A web server on this machine that answers as a test tells it to, also wrongly.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/storage/posix_file.h"

namespace stoker {

/// Threads: any; the handler is called by one thread for each connection.
class HttpServer {
 public:
  struct Asked {
    std::string method, target;
    std::map<std::string, std::string> fields;  // their names in lower case
    std::string body;

    /// The field's value; empty without.
    std::string field(const std::string& name) const;
    /// First and last byte of the range asked for.
    std::optional<std::pair<std::uint64_t, std::uint64_t>> range() const;
  };
  enum class After {
    kKeep,   // the connection waits for the next request
    kClose,  // it is closed
    kReset,  // it is reset
    kHold,   // nothing more comes until the server ends
  };
  struct Reply {
    std::string text;  // as it is sent
    After after = After::kKeep;
  };
  using Handler = std::function<Reply(const Asked&)>;

  explicit HttpServer(Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// "http://127.0.0.1:PORT/path".
  std::string url(std::string_view path) const;
  /// How many requests came, and over how many connections.
  int requests() const;
  int connections() const;

  /// As a server that makes no mistake answers, where the object has that content.
  static Reply serve(const Asked& asked, std::string_view content, std::string_view tag = "\"v1\"");
  static Reply status(int code, std::string_view fields = "", std::string_view body = "");

 private:
  void accept_all();
  void serve_connection(std::size_t number, int fd);
  static bool receive(int fd, std::string& buffer);
  bool take_request(int fd, std::string& buffer, Asked& asked);

  const Handler handler_;
  FileDescriptor listener_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  int requests_ = 0;
  std::vector<FileDescriptor> connections_;  // all there were
  std::vector<std::thread> threads_;         // one for each connection
  std::thread acceptor_;
};

}  // namespace stoker
