#include "stoker/runtime/share/step_barrier.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/units.h"
#include "stoker/device/accelerator.h"

namespace stoker {
namespace {

/// A name without a file, which disappears with its socket.
struct BarrierAddress {
  explicit BarrierAddress(const std::string& name) {
    const std::string text = "stoker-step-" + to_hex(hash64(name + ' ' + std::to_string(::geteuid())));
    value.sun_family = AF_UNIX;
    std::memcpy(value.sun_path + 1, text.data(), text.size());
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&value); }

  sockaddr_un value{};
  socklen_t size;
};

// Messages stay whole, and the end of a process is seen.
FileDescriptor make_barrier_socket() {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket) fail_system("make", "a socket", errno);
  return socket;
}

bool is_of_this_user(const FileDescriptor& socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds patience)
      : at_ns_(now_ns() + std::chrono::nanoseconds(patience).count()) {}

  std::int64_t left_ms() const { return std::max<std::int64_t>(0, (at_ns_ - now_ns()) / 1'000'000); }

 private:
  std::int64_t at_ns_;
};

}  // namespace

StepBarrier::StepBarrier(const std::string& name, RankOfWorld rank, std::chrono::milliseconds patience) : rank_(rank) {
  if (rank_.rank == 0) {
    accept_all(name, patience);
  } else {
    connect_to_first(name, patience);
  }
  latest(0);
}

void StepBarrier::accept_all(const std::string& name, std::chrono::milliseconds patience) {
  const Deadline deadline(patience);
  const BarrierAddress address(name);
  const FileDescriptor listener = make_barrier_socket();
  if (::bind(listener.get(), address.get(), address.size) != 0) {
    if (errno != EADDRINUSE) fail_system("name", "a socket", errno);
    fail(ErrorKind::kUsage, "another process is rank 0 of this job already; give each rank its own number");
  }
  const int others = rank_.world - 1;
  if (::listen(listener.get(), others) != 0) fail_system("listen on", "a socket", errno);
  while (peers_.size() < static_cast<std::size_t>(others)) {
    pollfd coming{listener.get(), POLLIN, 0};
    const int ready = ::poll(&coming, 1, static_cast<int>(deadline.left_ms()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      fail(ErrorKind::kUsage,
           "{} of {} other ranks did not connect within {}; start all ranks that step together at the same time, on "
           "one host",
           static_cast<std::size_t>(others) - peers_.size(), others,
           format_duration(std::chrono::duration<double>(patience).count()));
    }
    FileDescriptor peer(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer && is_of_this_user(peer)) peers_.push_back(std::move(peer));
  }
}

void StepBarrier::connect_to_first(const std::string& name, std::chrono::milliseconds patience) {
  constexpr std::int64_t kRetryNs = 2'000'000;
  const Deadline deadline(patience);
  const BarrierAddress address(name);
  for (;;) {
    FileDescriptor socket = make_barrier_socket();
    if (::connect(socket.get(), address.get(), address.size) == 0) {
      if (!is_of_this_user(socket)) fail(ErrorKind::kIo, "a process of another user has the name of this job");
      peers_.push_back(std::move(socket));
      return;
    }
    if (errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR) fail_system("connect to", "rank 0", errno);
    if (deadline.left_ms() == 0) {
      fail(ErrorKind::kUsage,
           "rank {} did not find rank 0 within {}; start all ranks that step together at the same time, on one host",
           rank_.rank, format_duration(std::chrono::duration<double>(patience).count()));
    }
    sleep_until(now_ns() + kRetryNs);  // nothing tells when a process takes a name
  }
}

StepBarrier::Message StepBarrier::exchange(Message own) {
  const auto fail_ended = [this] {
    fail(ErrorKind::kClosed, "{}", interrupted_ ? "stopped" : "another rank of this job has ended");
  };
  const auto send = [&](const FileDescriptor& peer, const Message& message) {
    while (::send(peer.get(), &message, sizeof(message), MSG_NOSIGNAL) < 0) {
      if (errno != EINTR) fail_ended();
    }
  };
  const auto receive = [&](const FileDescriptor& peer) {
    Message message{};
    ssize_t length;
    do {
      length = ::recv(peer.get(), &message, sizeof(message), 0);
    } while (length < 0 && errno == EINTR);
    if (length != sizeof(message)) fail_ended();
    return message;
  };
  if (rank_.rank != 0) {
    send(peers_.front(), own);
    return receive(peers_.front());
  }
  for (const FileDescriptor& peer : peers_) {
    const Message other = receive(peer);
    own.latest_ns = std::max(own.latest_ns, other.latest_ns);
    own.sum += other.sum;
  }
  for (const FileDescriptor& peer : peers_) send(peer, own);
  return own;
}

std::int64_t StepBarrier::latest(std::int64_t at_ns) { return exchange({.latest_ns = at_ns, .sum = 0}).latest_ns; }

double StepBarrier::sum(double number) { return exchange({.latest_ns = 0, .sum = number}).sum; }

void StepBarrier::interrupt() {
  interrupted_ = true;
  for (const FileDescriptor& peer : peers_) ::shutdown(peer.get(), SHUT_RDWR);
}

}  // namespace stoker
