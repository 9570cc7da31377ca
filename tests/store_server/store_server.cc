#include "tests/store_server/store_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <optional>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "tests/store_server/xml_answer.h"

namespace stoker {
namespace {

constexpr std::uint64_t kListener = 0;       // the ids of connections begin after it
constexpr std::uint64_t kSlice = 256 << 10;  // of a file, before it is another connection's turn
// Where rates are limited, slices are this short in time, and as much of what was missed is made up for.
constexpr std::int64_t kSliceNs = 5'000'000, kLinkSliceNs = 250'000, kCatchUpNs = 2'000'000;
constexpr std::uint64_t kSliceLeast = 256;
constexpr std::uint64_t kRequestsKept = 1000;
constexpr double kSecond = 1e9;

void require(bool good, std::string_view doing) {
  if (!good) fail_system(doing, "the server's socket", errno);
}

std::uint64_t slice_of(double bytes_per_s, std::int64_t ns) {
  const double bytes = bytes_per_s * static_cast<double>(ns) / kSecond;
  return std::clamp(static_cast<std::uint64_t>(bytes), kSliceLeast, kSlice);
}

std::int64_t time_of(std::uint64_t bytes, double bytes_per_s) {
  return static_cast<std::int64_t>(static_cast<double>(bytes) / bytes_per_s * kSecond);
}

void set_option(int socket, int level, int name, int value) {
  require(::setsockopt(socket, level, name, &value, sizeof value) == 0, "set up");
}

}  // namespace

StoreServer::StoreServer(StoreServerOptions options)
    : options_(std::move(options)),
      objects_(options_.folder),
      faults_(options_.faults),
      random_(options_.faults.seed),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (::inet_pton(AF_INET, options_.address.c_str(), &address.sin_addr) != 1) {
    fail(ErrorKind::kUsage, "'{}' is not an address", options_.address);
  }
  socklen_t length = sizeof address;
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  require(::bind(listener_.get(), at, length) == 0, "bind");
  require(::listen(listener_.get(), SOMAXCONN) == 0, "listen at");
  require(::getsockname(listener_.get(), at, &length) == 0, "ask for");
  port_ = ntohs(address.sin_port);
  epoll_event event{.events = EPOLLIN, .data = {.u64 = kListener}};
  require(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), &event) == 0, "watch");
}

void StoreServer::run() {
  std::array<epoll_event, 256> events;
  for (;;) {
    const std::int64_t wait = wait_ns();
    const timespec timeout{.tv_sec = wait / 1'000'000'000, .tv_nsec = wait % 1'000'000'000};
    const int count =
        ::epoll_pwait2(epoll_.get(), events.data(), events.size(), wait < 0 ? nullptr : &timeout, nullptr);
    require(count >= 0 || errno == EINTR, "wait for");
    for (int i = 0; i < count; ++i) {
      if (events[i].data.u64 == kListener) {
        accept_all();
        continue;
      }
      Connection* connection = find(events[i].data.u64);
      if (connection && (events[i].events & EPOLLOUT)) wait_for_room(*connection, false);
      if (connection && (events[i].events & ~static_cast<std::uint32_t>(EPOLLOUT))) {
        receive(*connection);
        connection = find(events[i].data.u64);
      }
      if (connection) advance(*connection);
    }
    serve_timers();
    serve_turns();
  }
}

/// Until a timer is due, or the link is free for those that wait for it; less than 0: for ever.
std::int64_t StoreServer::wait_ns() const {
  std::int64_t next = timers_.empty() ? -1 : timers_.top().first;
  if (!turns_.empty()) next = next < 0 ? link_free_ns_ : std::min(next, link_free_ns_);
  return next < 0 ? -1 : std::max<std::int64_t>(next - now_ns(), 0);
}

void StoreServer::serve_timers() {
  while (!timers_.empty() && timers_.top().first <= now_ns()) {
    Connection* const connection = find(timers_.top().second);
    timers_.pop();
    if (connection) advance(*connection);
  }
}

/// One slice for each that waits, as long as the link is free.
void StoreServer::serve_turns() {
  for (std::size_t left = turns_.size(); left > 0 && link_free_ns_ <= now_ns(); --left) {
    Connection* const connection = find(turns_.front());
    turns_.pop_front();
    if (!connection) continue;
    connection->queued = false;
    take_turn(*connection);
  }
}

void StoreServer::accept_all() {
  for (;;) {
    FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) return;
    ++counts_["connections"];
    set_option(socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    auto connection = std::make_unique<Connection>();
    connection->id = ++last_id_;
    epoll_event event{.events = EPOLLIN, .data = {.u64 = connection->id}};
    require(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &event) == 0, "watch");
    connection->socket = std::move(socket);
    connections_[connection->id] = std::move(connection);
  }
}

void StoreServer::receive(Connection& connection) {
  std::array<char, 16 << 10> bytes;
  for (;;) {
    const ssize_t count = ::recv(connection.socket.get(), bytes.data(), bytes.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return close(connection);  // the client has gone, as it may
    connection.received.append(bytes.data(), static_cast<std::size_t>(count));
    if (static_cast<std::size_t>(count) < bytes.size()) return;
  }
}

void StoreServer::advance(Connection& connection) {
  if (!connection.answering && !begin_answer(connection)) return;
  if (connection.answer.after == Answer::After::kSilent || connection.queued || connection.waits_for_room) return;
  if (connection.due_ns > now_ns()) return;  // a timer is set
  switch (send_opening(connection)) {
    case Sent::kFailed: return close(connection);
    case Sent::kNoRoom: return wait_for_room(connection, true);
    case Sent::kWhole: break;
  }
  if (connection.answer.length > 0) return wait_for_turn(connection);
  end_answer(connection);
}

void StoreServer::take_turn(Connection& connection) {
  switch (send_slice(connection)) {
    case Sent::kFailed: return close(connection);
    case Sent::kNoRoom: return wait_for_room(connection, true);
    case Sent::kWhole: break;
  }
  if (connection.answer.length == 0) return end_answer(connection);
  if (connection.due_ns <= now_ns()) wait_for_turn(connection);
}

/// The next request follows, unless the answer was the connection's last.
void StoreServer::end_answer(Connection& connection) {
  connection.answering = false;
  const Answer answer = std::exchange(connection.answer, {});
  if (answer.after == Answer::After::kKeep) return advance(connection);
  if (answer.after == Answer::After::kReset) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(connection.socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  close(connection);
}

bool StoreServer::begin_answer(Connection& connection) {
  std::string& received = connection.received;
  if (!connection.asked) {
    const std::size_t end = received.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    connection.asked = parse_request_head(std::string_view(received).substr(0, end + 2));
    received.erase(0, end + 4);
  }
  const std::uint64_t body_bytes = connection.asked ? connection.asked->body_bytes() : 0;
  if (received.size() < body_bytes) return false;
  std::string next = received.substr(body_bytes);
  received.resize(body_bytes);
  std::string body = std::exchange(received, std::move(next));
  const std::optional<RequestHead> asked = std::exchange(connection.asked, std::nullopt);
  connection.answering = true;
  connection.due_ns = 0;
  std::optional<Answer> about_itself = asked ? answer_about_itself(*asked) : std::nullopt;
  if (about_itself) {
    connection.answer = *std::move(about_itself);
  } else if (asked) {
    connection.answer = answer_to(*asked, std::move(body));
    const auto late_ns = static_cast<std::int64_t>(connection.answer.late_s * kSecond);
    wait_until(connection, now_ns() + draw_latency_ns() + late_ns);
  } else {
    connection.answer = Answer::of_status("400 Bad Request");
    connection.answer.after = Answer::After::kClose;
  }
  connection.opening = connection.answer.opening();
  return true;
}

/// What tests ask for, and tell: not a request like others.
std::optional<Answer> StoreServer::answer_about_itself(const RequestHead& asked) {
  if (asked.path == "/counts") {
    counts_["open-uploads"] = objects_.open_uploads();
    std::string text;
    for (const auto& [name, count] : counts_)
      text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", name, count);
    return Answer::of_status("200 OK", fmt::format("{{{}}}", text));
  }
  if (asked.path == "/requests") return Answer::of_status("200 OK", requests_);
  if (asked.path != "/faults") return std::nullopt;
  FaultOptions faults = options_.faults;
  const auto kind = find_fault(asked.queried("kind"));
  faults.kinds.clear();
  if (kind) faults.kinds.push_back(*kind);
  faults.step = asked.queried("step");
  faults.share = parse_number<double>(asked.queried("share")).value_or(1);
  faults.after = counts_["requests"] + parse_number<std::uint64_t>(asked.queried("after")).value_or(0);
  faults.most = parse_number<std::uint64_t>(asked.queried("most")).value_or(faults.most);
  faults_ = Faults(faults);
  return Answer::of_status("200 OK");
}

Answer StoreServer::refuse() const {
  if (options_.refused_code.empty()) return Answer::of_status(options_.refused_with);
  return refusal(options_.refused_with, options_.refused_code);
}

Answer StoreServer::answer_to(const RequestHead& asked, std::string body) {
  const std::uint64_t number = ++counts_["requests"];
  ++counts_[std::string(asked.step())];
  if (number <= kRequestsKept) requests_ += fmt::format("{} {} {}\n", asked.method, asked.path, asked.field("range"));
  if (asked.fields.contains("authorization") || asked.query.contains("X-Amz-Signature")) ++counts_["logins"];
  const bool is_refused = options_.refused_step.empty() || options_.refused_step == asked.step();
  if (!options_.refused_with.empty() && is_refused) return refuse();
  std::optional<Fault> fault;
  if (asked.writes()) fault = faults_.draw(asked, number);
  Answer answer = fault && !faults_.is_carried_out(*fault) ? Answer() : objects_.answer(asked, std::move(body));
  answer.bytes_per_s = options_.bytes_per_s;
  if (asked.method == "GET" && answer.status.starts_with("20")) fault = faults_.draw(asked, number);
  if (fault) {
    faults_.spoil(*fault, asked, answer);
    ++counts_["faults"];
    ++counts_[std::string(name_of(*fault))];
  }
  return answer;
}

StoreServer::Sent StoreServer::send_opening(Connection& connection) {
  std::string& left = connection.opening;
  const int more = connection.answer.length > 0 ? MSG_MORE : 0;  // one packet with what follows
  while (!left.empty()) {
    const ssize_t sent = ::send(connection.socket.get(), left.data(), left.size(), MSG_NOSIGNAL | more);
    if (sent < 0) return errno == EAGAIN ? Sent::kNoRoom : Sent::kFailed;
    left.erase(0, static_cast<std::size_t>(sent));
  }
  return Sent::kWhole;
}

StoreServer::Sent StoreServer::send_slice(Connection& connection) {
  Answer& answer = connection.answer;
  std::uint64_t slice = std::min(answer.length, kSlice);
  if (answer.bytes_per_s > 0) slice = std::min(slice, slice_of(answer.bytes_per_s, kSliceNs));
  if (options_.link_bytes_per_s > 0) slice = std::min(slice, slice_of(options_.link_bytes_per_s, kLinkSliceNs));
  auto offset = static_cast<off_t>(answer.first);
  const ssize_t sent = ::sendfile(connection.socket.get(), answer.file.get(), &offset, slice);
  if (sent < 0) return errno == EAGAIN ? Sent::kNoRoom : Sent::kFailed;
  if (sent == 0) return Sent::kFailed;  // the file has become shorter
  const auto bytes = static_cast<std::uint64_t>(sent);
  answer.first += bytes;
  answer.length -= bytes;
  counts_["bytes"] += bytes;
  const std::int64_t now = now_ns();
  if (options_.link_bytes_per_s > 0) {
    link_free_ns_ = std::max(link_free_ns_, now - kCatchUpNs) + time_of(bytes, options_.link_bytes_per_s);
  }
  if (answer.bytes_per_s > 0) {
    wait_until(connection, std::max(connection.due_ns, now - kSliceNs) + time_of(bytes, answer.bytes_per_s));
  }
  return bytes < slice ? Sent::kNoRoom : Sent::kWhole;
}

void StoreServer::wait_for_turn(Connection& connection) {
  connection.queued = true;
  turns_.push_back(connection.id);
}

void StoreServer::wait_for_room(Connection& connection, bool wanted) {
  if (connection.waits_for_room == wanted) return;
  connection.waits_for_room = wanted;
  epoll_event event{.events = EPOLLIN, .data = {.u64 = connection.id}};
  if (wanted) event.events |= EPOLLOUT;
  require(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), &event) == 0, "watch");
}

void StoreServer::wait_until(Connection& connection, std::int64_t due_ns) {
  connection.due_ns = due_ns;
  timers_.emplace(due_ns, connection.id);
}

void StoreServer::close(Connection& connection) { connections_.erase(connection.id); }

StoreServer::Connection* StoreServer::find(std::uint64_t id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second.get();
}

std::int64_t StoreServer::draw_latency_ns() {
  double seconds = options_.latency_s;
  if (options_.latency_sigma > 0) seconds *= std::lognormal_distribution(0.0, options_.latency_sigma)(random_);
  return static_cast<std::int64_t>(seconds * kSecond);
}

}  // namespace stoker
