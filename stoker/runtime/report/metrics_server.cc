#include "stoker/runtime/report/metrics_server.h"

#include <CivetServer.h>
#include <arpa/inet.h>
#include <fmt/format.h>
#include <prometheus/text_serializer.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/parse_number.h"
#include "stoker/runtime/report/dashboard.h"
#include "stoker/runtime/report/prometheus_metrics.h"
#include "stoker/storage/closed_in_children.h"
#include "stoker/storage/posix_file.h"

namespace stoker {
namespace {

// A client that connects and asks for nothing has a thread until the time is over.
constexpr std::size_t kThreads = 8;
constexpr int kRequestMs = 2000;

/// The loaders at one address.
class ServedLoaders {
 public:
  std::string prometheus_text() const {
    const std::lock_guard lock(mutex_);
    std::vector<LoaderReading> readings;
    for (const auto& [name, loader] : loaders_) readings.push_back({name, loader.rank, loader.read()});
    return prometheus::TextSerializer().Serialize(prometheus_families(readings));
  }

  std::string dashboard_text() {
    const std::lock_guard lock(mutex_);
    nlohmann::ordered_json json = {{"loaders", nlohmann::ordered_json::array()}};
    for (auto& [name, loader] : loaders_) {
      loader.recent.add(loader.read());
      json["loaders"].push_back(dashboard_json(name, loader.rank, loader.recent));
    }
    return json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  }

  /// Returns its name.
  std::string add(std::string name, int rank, std::function<Metrics()> read) {
    const std::lock_guard lock(mutex_);
    if (name.empty()) {
      int number = 0;
      while (loaders_.contains(fmt::format("{}", number))) ++number;
      name = fmt::format("{}", number);
    }
    RecentReadings recent(read());
    const bool is_new = loaders_.try_emplace(name, Loader{rank, std::move(read), std::move(recent)}).second;
    if (!is_new) fail(ErrorKind::kUsage, "another loader serves its metrics as '{}'; give this one another name", name);
    return name;
  }

  /// Returns whether it was the last one.
  bool remove(const std::string& name) {
    const std::lock_guard lock(mutex_);
    loaders_.erase(name);
    return loaders_.empty();
  }

 private:
  struct Loader {
    int rank;
    std::function<Metrics()> read;
    RecentReadings recent;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Loader> loaders_;
};

/// The address as sockets have it. Returns how long it is.
socklen_t fill_address(sockaddr_storage& storage, const MetricsAddress& address) {
  storage = {};
  const auto port = htons(static_cast<std::uint16_t>(address.port));
  if (address.host.starts_with('[')) {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = port;
    ::inet_pton(AF_INET6, address.host.substr(1, address.host.size() - 2).c_str(), &v6.sin6_addr);
    return sizeof(v6);
  }
  auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
  v4.sin_family = AF_INET;
  v4.sin_port = port;
  ::inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr);
  return sizeof(v4);
}

/// Calls ::bind or ::connect with the address, on a socket for it. Returns errno, or 0.
template <typename Call>
int try_socket(const MetricsAddress& address, Call call) {
  sockaddr_storage storage;
  const socklen_t size = fill_address(storage, address);
  const FileDescriptor socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return errno;
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  return call(socket.get(), reinterpret_cast<const sockaddr*>(&storage), size) == 0 ? 0 : errno;
}

/// The socket of this process that listens at the address, which civetweb does not expose; -1 if it is not found.
int listening_socket(const MetricsAddress& address) {
  sockaddr_storage wanted;
  const socklen_t size = fill_address(wanted, address);
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator("/proc/self/fd", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    int listens = 0;
    socklen_t listens_size = sizeof(listens);
    sockaddr_storage found{};
    socklen_t found_size = sizeof(found);
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_size) == 0 && listens != 0 &&
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&found), &found_size) == 0 && found_size == size &&
        std::memcmp(&found, &wanted, size) == 0) {
      return fd;
    }
  }
  return -1;
}

/// The server's socket, which a forked child closes: the child has no thread that answers.
class ExposedSocket {
 public:
  explicit ExposedSocket(int socket) { descriptor_ = FileDescriptor(socket); }
  ~ExposedSocket() { descriptor_.release(); }  // it is the server's
  ExposedSocket(const ExposedSocket&) = delete;
  ExposedSocket& operator=(const ExposedSocket&) = delete;

 private:
  FileDescriptor descriptor_;
  const ClosedInChildren not_in_children_{descriptor_};
};

/// What is served at one path, made for each request.
class ServedText final : public CivetHandler {
 public:
  ServedText(std::string path, std::string type, std::function<std::string()> text)
      : path_(std::move(path)), type_(std::move(type)), text_(std::move(text)) {}

  const std::string& path() const { return path_; }

  bool handleGet(CivetServer* /*server*/, mg_connection* connection) override {
    if (mg_get_request_info(connection)->local_uri != path_) return false;  // "/" is asked for all others, too
    try {
      const std::string text = text_();
      mg_printf(connection,
                "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nCache-Control: no-store\r\nContent-Length: %zu\r\n\r\n",
                type_.c_str(), text.size());
      mg_write(connection, text.data(), text.size());
    } catch (const std::exception& error) {  // no memory is left
      mg_send_http_error(connection, 500, "%s", error.what());
    }
    return true;
  }

 private:
  const std::string path_, type_;
  const std::function<std::string()> text_;
};

class MetricsServer {
 public:
  explicit MetricsServer(const MetricsAddress& address) : at_(address) {
    try {
      server_ = std::make_unique<CivetServer>(
          std::vector<std::string>{"listening_ports", address.text(), "num_threads", fmt::format("{}", kThreads),
                                   "request_timeout_ms", fmt::format("{}", kRequestMs)});
      for (ServedText* const served : {&metrics_, &figures_, &page_}) server_->addHandler(served->path(), served);
      at_.port = server_->getListeningPorts().at(0);
      socket_.emplace(listening_socket(at_));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      const int reason = try_socket(address, ::bind);
      const bool is_unknown = address.host.starts_with('[') && !mg_check_feature(MG_FEATURES_IPV6);
      if (reason == 0 && is_unknown) {
        fail(ErrorKind::kIo, "cannot serve metrics at {}: CivetWeb was built without IPv6; name an IPv4 address",
             address.text());
      }
      fail(ErrorKind::kIo, "cannot serve metrics at {}: {}; name another port, or 0 for one that is free",
           address.text(), reason != 0 ? std::generic_category().message(reason) : error.what());
    }
  }

  // The server checks every two seconds, and on each connection, whether it should end.
  ~MetricsServer() {
    std::jthread knocking;
    try {
      knocking = std::jthread([this](const std::stop_token& ended) { knock(ended); });
    } catch (const std::system_error&) {  // no thread is available: then ending takes longer
    }
    socket_.reset();
    server_.reset();
  }
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  ServedLoaders& loaders() { return loaders_; }
  std::string at() const { return at_.text(); }

 private:
  void knock(const std::stop_token& ended) const {
    constexpr std::chrono::milliseconds kPause{10};
    std::mutex mutex;
    std::condition_variable_any over;
    std::unique_lock lock(mutex);
    do {
      try_socket(at_, ::connect);
    } while (!over.wait_for(lock, ended, kPause, [&] { return ended.stop_requested(); }));
  }

  ServedLoaders loaders_;
  ServedText metrics_{"/metrics", "text/plain; version=0.0.4; charset=utf-8",
                      [this] { return loaders_.prometheus_text(); }};
  ServedText figures_{"/dashboard.json", "application/json", [this] { return loaders_.dashboard_text(); }};
  ServedText page_{"/", "text/html; charset=utf-8", dashboard_html};
  MetricsAddress at_;
  std::unique_ptr<CivetServer> server_;
  std::optional<ExposedSocket> socket_;
};

/// Of this process.
struct MetricsServers {
  const HomeProcess home{};
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<MetricsServer>> by_address;
};

// A forked child leaves its copies of the parent's servers alone.
MetricsServers& metrics_servers() {
  static std::atomic<MetricsServers*> current{nullptr};
  for (;;) {
    MetricsServers* servers = current.load();
    if (servers && servers->home.here()) return *servers;
    auto fresh = std::make_unique<MetricsServers>();
    if (current.compare_exchange_strong(servers, fresh.get())) return *fresh.release();
  }
}

bool is_address(const std::string& host) {
  in6_addr parsed;
  if (!host.starts_with('[')) return ::inet_pton(AF_INET, host.c_str(), &parsed) == 1;
  return host.ends_with(']') && ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &parsed) == 1;
}

}  // namespace

std::string MetricsAddress::text() const { return fmt::format("{}:{}", host, port); }

MetricsAddress parse_metrics_address(std::string_view text) {
  constexpr int kPortMax = 65'535;
  const std::size_t colon = text.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? text : text.substr(colon + 1);
  MetricsAddress address{std::string(colon == std::string_view::npos ? "127.0.0.1" : text.substr(0, colon))};
  if (address.host == "localhost") address.host = "127.0.0.1";
  address.port = parse_number<int>(port).value_or(-1);
  const bool is_port = address.port >= 0 && address.port <= kPortMax && port.front() != '-';
  if (is_port && is_address(address.host)) return address;
  fail(ErrorKind::kUsage,
       "'{}' is not an address to serve at; write a port as 9100, or with an IP address as 127.0.0.1:9100, [::1]:9100, "
       "or 0.0.0.0:9100 for every network",
       text);
}

ServedMetrics::ServedMetrics(const MetricsAddress& address, const std::string& name, int rank,
                             std::function<Metrics()> read) {
  MetricsServers& servers = metrics_servers();
  const std::lock_guard lock(servers.mutex);
  const auto found = servers.by_address.find(address.text());
  if (found != servers.by_address.end()) {
    name_ = found->second->loaders().add(name, rank, std::move(read));
    address_ = found->first;
    return;
  }
  auto server = std::make_unique<MetricsServer>(address);
  name_ = server->loaders().add(name, rank, std::move(read));
  address_ = server->at();
  servers.by_address.emplace(address_, std::move(server));
  log(LogLevel::kDebug, "metrics are served at http://{}/metrics", address_);
}

ServedMetrics::~ServedMetrics() {
  if (!home_.here()) return;
  MetricsServers& servers = metrics_servers();
  const std::lock_guard lock(servers.mutex);
  const auto server = servers.by_address.find(address_);
  // Under the lock, so that the address is free for the next server.
  if (server->second->loaders().remove(name_)) servers.by_address.erase(server);
}

}  // namespace stoker
