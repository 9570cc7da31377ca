#include "stoker/storage/http/http_server_testing.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "stoker/base/parse_number.h"

namespace stoker {
namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the client has gone, as it may
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace

std::string HttpServer::Asked::field(const std::string& name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> HttpServer::Asked::range() const {
  const std::string text = field("range");
  const std::size_t dash = text.find('-');
  if (!text.starts_with("bytes=") || dash == std::string::npos) return std::nullopt;
  const auto first = parse_number<std::uint64_t>(std::string_view(text).substr(6, dash - 6));
  const auto last = parse_number<std::uint64_t>(std::string_view(text).substr(dash + 1));
  if (!first || !last) return std::nullopt;
  return std::pair(*first, *last);
}

HttpServer::HttpServer(Handler handler)
    : handler_(std::move(handler)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listener_.get(), at, length), 0);
  EXPECT_EQ(::listen(listener_.get(), 128), 0);
  EXPECT_EQ(::getsockname(listener_.get(), at, &length), 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

HttpServer::~HttpServer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    stopped_.notify_all();
    ::shutdown(listener_.get(), SHUT_RDWR);
    for (const FileDescriptor& connection : connections_) ::shutdown(connection.get(), SHUT_RDWR);
  }
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
}

std::string HttpServer::url(std::string_view path) const { return fmt::format("http://127.0.0.1:{}{}", port_, path); }

int HttpServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

int HttpServer::connections() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(connections_.size());
}

void HttpServer::accept_all() {
  for (;;) {
    FileDescriptor connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    if (!connection) continue;
    const int fd = connection.get();
    const std::size_t number = connections_.size();
    connections_.push_back(std::move(connection));
    threads_.emplace_back([this, number, fd] { serve_connection(number, fd); });
  }
}

bool HttpServer::receive(int fd, std::string& buffer) {
  std::array<char, 65536> bytes;
  const ssize_t count = ::recv(fd, bytes.data(), bytes.size(), 0);
  if (count <= 0) return false;
  buffer.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

bool HttpServer::take_request(int fd, std::string& buffer, Asked& asked) {
  std::size_t end;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (!receive(fd, buffer)) return false;
  }
  const std::string head = buffer.substr(0, end + 2);
  buffer.erase(0, end + 4);
  const std::size_t first_space = head.find(' '), second_space = head.find(' ', first_space + 1);
  asked.method = head.substr(0, first_space);
  asked.target = head.substr(first_space + 1, second_space - first_space - 1);
  for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
    const std::size_t line_end = head.find("\r\n", at), colon = head.find(": ", at);
    asked.fields[lower_case(head.substr(at, colon - at))] = head.substr(colon + 2, line_end - colon - 2);
    at = line_end + 2;
  }
  const std::string length = asked.field("content-length");
  const std::size_t body_bytes = length.empty() ? 0 : std::stoul(length);
  while (buffer.size() < body_bytes) {
    if (!receive(fd, buffer)) return false;
  }
  asked.body = buffer.substr(0, body_bytes);
  buffer.erase(0, body_bytes);
  return true;
}

void HttpServer::serve_connection(std::size_t number, int fd) {
  std::string buffer;
  for (Asked asked; take_request(fd, buffer, asked); asked = {}) {
    {
      const std::lock_guard lock(mutex_);
      ++requests_;
    }
    const Reply reply = handler_(asked);
    send_all(fd, reply.text);
    if (reply.after == After::kKeep) continue;
    if (reply.after == After::kHold) {
      std::unique_lock lock(mutex_);
      stopped_.wait(lock, [this] { return stopping_; });
    }
    if (reply.after == After::kReset) {
      const linger at_once{.l_onoff = 1, .l_linger = 0};
      ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      const std::lock_guard lock(mutex_);
      const FileDescriptor closed = std::move(connections_[number]);
      return;
    }
    ::shutdown(fd, SHUT_RDWR);
    return;
  }
}

HttpServer::Reply HttpServer::serve(const Asked& asked, std::string_view content, std::string_view tag) {
  const std::string shared = fmt::format("ETag: {}\r\n", tag);
  if (const std::string wanted = asked.field("if-match"); !wanted.empty() && wanted != tag) return status(412, shared);
  const auto range = asked.range();
  if (!range) {
    const std::string head = fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{}\r\n", content.size(), shared);
    return {asked.method == "HEAD" ? head : head + std::string(content)};
  }
  if (range->first >= content.size()) {
    return status(416, fmt::format("Content-Range: bytes */{}\r\n", content.size()));
  }
  const std::uint64_t last = std::min<std::uint64_t>(range->second, content.size() - 1);
  const std::uint64_t length = last - range->first + 1;
  return {fmt::format("HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\nContent-Range: bytes {}-{}/{}\r\n{}\r\n",
                      length, range->first, last, content.size(), shared) +
          std::string(content.substr(range->first, length))};
}

HttpServer::Reply HttpServer::status(int code, std::string_view fields, std::string_view body) {
  return {fmt::format("HTTP/1.1 {} Status\r\nContent-Length: {}\r\n{}\r\n{}", code, body.size(), fields, body)};
}

}  // namespace stoker
