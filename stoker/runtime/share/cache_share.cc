#include "stoker/runtime/share/cache_share.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/log.h"
#include "stoker/base/threads.h"
#include "stoker/order/launcher.h"
#include "stoker/storage/closed_in_children.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kAnswerWithin{500};  // a process that is just ending may not answer

/// A name without a file, which disappears with its socket.
struct Address {
  Address() = default;
  explicit Address(const std::string& name) {
    value.sun_family = AF_UNIX;
    const std::size_t length = std::min(name.size(), sizeof(value.sun_path) - 1);
    std::memcpy(value.sun_path + 1, name.data(), length);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }

  sockaddr_un value{};
  socklen_t size = sizeof(sockaddr_un);
};

/// A datagram socket: unlike connections datagrams need no listener, so a name is either free or its owner can be
/// asked.
FileDescriptor make_socket() {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  const timeval within{.tv_sec = 0, .tv_usec = std::chrono::microseconds(kAnswerWithin).count()};
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0 ||
      ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &within, sizeof(within)) != 0) {
    fail_system("make", "a socket", errno);
  }
  return socket;
}

/// Whether the socket now has the name; false if another has it.
bool take_name(const FileDescriptor& socket, const Address& address) {
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.value), address.size) == 0) return true;
  if (errno != EADDRINUSE) fail_system("name", "a socket", errno);
  return false;
}

/// One datagram of one byte, perhaps with a descriptor.
class Message {
 public:
  Message() {
    header_.msg_name = &peer_.value;
    header_.msg_iov = &part_;
    header_.msg_iovlen = 1;
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  /// Returns errno, or 0.
  int send(const FileDescriptor& socket, const Address& to, std::optional<int> descriptor, int flags = 0) {
    peer_ = to;
    header_.msg_namelen = peer_.size;
    if (descriptor) {
      header_.msg_control = control_;
      header_.msg_controllen = CMSG_SPACE(sizeof(int));
      cmsghdr* const rights = CMSG_FIRSTHDR(&header_);
      *rights = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
      std::memcpy(CMSG_DATA(rights), &*descriptor, sizeof(int));
    }
    return ::sendmsg(socket.get(), &header_, MSG_NOSIGNAL | flags) < 0 ? errno : 0;
  }

  /// False if no datagram comes from a process of this user: any process can send to a name.
  bool receive(const FileDescriptor& socket) {
    header_.msg_namelen = sizeof(peer_.value);
    header_.msg_control = control_;
    header_.msg_controllen = sizeof(control_);
    if (::recvmsg(socket.get(), &header_, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) < 0) return false;
    peer_.size = header_.msg_namelen;
    bool is_ours = false;
    for (cmsghdr* part = CMSG_FIRSTHDR(&header_); part; part = CMSG_NXTHDR(&header_, part)) {
      if (part->cmsg_type == SCM_CREDENTIALS) {
        ucred sender;
        std::memcpy(&sender, CMSG_DATA(part), sizeof(sender));
        is_ours = sender.uid == ::geteuid();
      } else if (part->cmsg_type == SCM_RIGHTS) {  // of several, all but the last are closed
        for (std::size_t at = 0; at + sizeof(int) <= part->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
          int descriptor;
          std::memcpy(&descriptor, CMSG_DATA(part) + at, sizeof(int));
          descriptor_ = FileDescriptor(descriptor);
        }
      }
    }
    return is_ours;
  }

  const Address& sender() const { return peer_; }
  FileDescriptor take_descriptor() { return std::move(descriptor_); }

 private:
  Address peer_;
  char byte_ = 0;
  iovec part_{&byte_, 1};
  alignas(cmsghdr) char control_[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(ucred))] = {};
  msghdr header_{};
  FileDescriptor descriptor_;
};

/// Asks the owner of the name; nothing if it does not answer in time.
std::optional<FileDescriptor> ask(const Address& address, std::chrono::milliseconds patience) {
  const FileDescriptor socket = make_socket();
  sockaddr_un any{};
  any.sun_family = AF_UNIX;  // with only this the system picks a name to which answers are sent
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof(any.sun_family)) != 0) {
    fail_system("name", "a socket", errno);
  }
  if (const int error = Message().send(socket, address, std::nullopt)) {
    // The owner has just ended, or so many ask at once that its queue stayed full.
    if (error == ECONNREFUSED || error == EAGAIN) return std::nullopt;
    fail_system("ask", "the process that has the name", error);
  }
  pollfd answer{socket.get(), POLLIN, 0};
  Message reply;
  if (::poll(&answer, 1, static_cast<int>(std::min(kAnswerWithin, patience).count())) <= 0 || !reply.receive(socket))
    return std::nullopt;
  FileDescriptor descriptor = reply.take_descriptor();
  return descriptor ? std::optional(std::move(descriptor)) : std::nullopt;
}

}  // namespace

/// Answers requests, on a separate thread.
class CacheShare::Server {
 public:
  Server(FileDescriptor socket, int descriptor)
      : socket_(std::move(socket)),
        descriptor_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)),
        stop_(::eventfd(0, EFD_CLOEXEC)) {
    if (!descriptor_ || !stop_) fail_system("share", "memory for a cache", errno);
    translate_thread_errors([&] { thread_ = std::thread([this] { serve(); }); });
  }
  ~Server() {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(stop_.get(), &one, sizeof(one)));
    thread_.join();
  }

 private:
  void serve() {
    name_this_thread("stoker-cache");
    std::array<pollfd, 2> waits{{{socket_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
    for (;;) {
      if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
      if (waits[1].revents != 0) return;
      Message question, answer;
      // Does not wait for a process that is gone, or that does not read the answer.
      if (question.receive(socket_)) answer.send(socket_, question.sender(), descriptor_.get(), MSG_DONTWAIT);
    }
  }

  FileDescriptor socket_, descriptor_, stop_;
  const ClosedInChildren not_in_children_{socket_};  // a child would keep the name and never answer
  std::thread thread_;
};

CacheShare::CacheShare(const std::string& name, std::uint64_t bytes, std::chrono::milliseconds patience)
    : memory_(SharedMemory::create(bytes)) {
  if (name.empty()) return;
  const Address address(name);
  const Clock::time_point deadline = Clock::now() + patience;
  try {
    while (Clock::now() < deadline) {
      FileDescriptor socket = make_socket();
      if (take_name(socket, address)) {
        server_ = std::make_unique<Server>(std::move(socket), memory_.descriptor());
        return;
      }
      if (std::optional<FileDescriptor> shared = ask(address, patience)) {
        memory_ = SharedMemory::attach(*std::move(shared));
        return;
      }
    }
    fail(ErrorKind::kIo, "the process that owns it does not answer");
  } catch (const Error& error) {
    log(LogLevel::kWarning, "the sample cache is not shared with other processes: {}", error.message());
  }
}

CacheShare::~CacheShare() = default;

namespace {

// Where the samples lie, some of them told for all: data sets of one fingerprint may differ in what it does not cover.
std::string places_of(const Dataset& dataset) {
  constexpr std::int64_t kLookedAt = 64;
  const std::int64_t last = dataset.size() - 1;
  std::vector<std::int64_t> samples;
  for (std::int64_t i = 0; i < kLookedAt; ++i) samples.push_back(last / (kLookedAt - 1) * i);
  samples.push_back(last);
  dataset.prepare(samples);
  std::string places;
  for (const std::int64_t sample : samples) {
    const SampleRow row = dataset.row(sample);
    places += fmt::format("{}:{} ", row.source->name(), row.fields.empty() ? 0 : row.fields.front().offset);
  }
  return places;
}

}  // namespace

std::unique_ptr<CacheShare> cache_share(const Dataset& dataset, std::span<const std::string> fields, int world,
                                        std::uint64_t bytes) {
  if (bytes == 0) return nullptr;
  if (world == 1) return std::make_unique<CacheShare>("", bytes);
  const std::string what =
      fmt::format("{} {} {} {} {} {} {} {}", job_name(process_environment()), ::geteuid(), dataset.fingerprint(),
                  dataset.size(), dataset.bytes(), places_of(dataset), fmt::join(fields, ","), bytes);
  return std::make_unique<CacheShare>("stoker-" + to_hex(hash64(what)), bytes);
}

}  // namespace stoker
