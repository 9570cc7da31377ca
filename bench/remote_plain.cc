// What a link and a server give: reads objects by ranges of one size over many connections, and does nothing with the
// bytes. No checks, no retries, no memory but a buffer: what a reader that does all of that is measured against.
//
//   bench_remote_plain PORT CONNECTIONS BLOCK SECONDS PATH:SIZE...
//
// It reads all of the objects, again and again, until the time is over, and prints what it did as JSON.

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/storage/posix_file.h"

namespace stoker {
namespace {

struct Object {
  std::string path;
  std::uint64_t size;
};

struct Connection {
  FileDescriptor socket;
  std::string head{};      // of the answer, until it is whole
  std::uint64_t left = 0;  // of the body
};

void require(bool good, std::string_view doing) {
  if (!good) fail_system(doing, "the server", errno);
}

class PlainReader {
 public:
  PlainReader(int port, std::uint64_t block, std::vector<Object> objects)
      : port_(port), block_(block), objects_(std::move(objects)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

  void read(int connections, std::int64_t deadline_ns) {
    deadline_ns_ = deadline_ns;
    connections_.resize(static_cast<std::size_t>(connections));
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      open(connections_[i], i);
      ask(connections_[i]);
    }
    std::array<epoll_event, 256> events;
    while (under_way_ > 0) {
      const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), -1);
      require(count >= 0 || errno == EINTR, "wait for");
      for (int i = 0; i < count; ++i) receive(connections_[events[i].data.u64]);
    }
  }

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t requests() const { return requests_; }

 private:
  void open(Connection& connection, std::uint64_t number) {
    connection.socket = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = connection.socket.get(), on = 1;
    require(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "connect to");
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{.events = EPOLLIN, .data = {.u64 = number}};
    require(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0, "watch");
  }

  /// The next block, unless the time is over.
  void ask(Connection& connection) {
    if (now_ns() > deadline_ns_) return;
    const Object& object = objects_[object_];
    const std::uint64_t last = std::min(offset_ + block_, object.size) - 1;
    const std::string request =
        fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1\r\nRange: bytes={}-{}\r\n\r\n", object.path, offset_, last);
    require(::send(connection.socket.get(), request.data(), request.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(request.size()),
            "ask");
    connection.left = last + 1 - offset_;
    connection.head.clear();
    ++requests_;
    ++under_way_;
    offset_ = last + 1;
    if (offset_ < object.size) return;
    offset_ = 0;
    object_ = (object_ + 1) % objects_.size();
  }

  void receive(Connection& connection) {
    const ssize_t count = ::recv(connection.socket.get(), buffer_.data(), buffer_.size(), 0);
    require(count > 0, "read from");
    std::string_view got(buffer_.data(), static_cast<std::size_t>(count));
    if (!connection.head.ends_with("\r\n\r\n")) {
      const std::size_t before = connection.head.size();
      connection.head += got.substr(0, 2048);
      const std::size_t end = connection.head.find("\r\n\r\n");
      if (end == std::string::npos) return;
      connection.head.resize(end + 4);
      got.remove_prefix(connection.head.size() - before);
      if (!connection.head.starts_with("HTTP/1.1 206")) fail(ErrorKind::kData, "{}", connection.head);
    }
    connection.left -= got.size();
    bytes_ += got.size();
    if (connection.left > 0) return;
    --under_way_;
    ask(connection);
  }

  const int port_;
  const std::uint64_t block_;
  const std::vector<Object> objects_;
  FileDescriptor epoll_;
  std::vector<Connection> connections_;
  std::vector<char> buffer_ = std::vector<char>(256 << 10);
  std::int64_t deadline_ns_ = 0;
  std::size_t object_ = 0;
  std::uint64_t offset_ = 0, bytes_ = 0, requests_ = 0;
  int under_way_ = 0;
};

template <typename Number>
Number number_of(std::string_view text) {
  const auto number = parse_number<Number>(text);
  if (!number) fail(ErrorKind::kUsage, "'{}' is not a number", text);
  return *number;
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void run(int count, char** arguments) {
  if (count < 6) fail(ErrorKind::kUsage, "usage: bench_remote_plain PORT CONNECTIONS BLOCK SECONDS PATH:SIZE...");
  std::vector<Object> objects;
  for (int i = 5; i < count; ++i) {
    const std::string_view text(arguments[i]);
    const std::size_t colon = text.rfind(':');
    objects.push_back({std::string(text.substr(0, colon)), number_of<std::uint64_t>(text.substr(colon + 1))});
  }
  PlainReader reader(number_of<int>(arguments[1]), number_of<std::uint64_t>(arguments[3]), std::move(objects));
  const std::int64_t began = now_ns();
  const double cpu = cpu_seconds();
  reader.read(number_of<int>(arguments[2]), began + static_cast<std::int64_t>(1e9 * number_of<double>(arguments[4])));
  std::cout << fmt::format("{{\"bytes\": {}, \"requests\": {}, \"seconds\": {}, \"cpu_seconds\": {}}}\n",
                           reader.bytes(), reader.requests(), 1e-9 * static_cast<double>(now_ns() - began),
                           cpu_seconds() - cpu);
}

}  // namespace
}  // namespace stoker

int main(int count, char** arguments) {
  try {
    stoker::run(count, arguments);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "bench_remote_plain: " << error.what() << '\n';
    return 1;
  }
}
