#include "stoker/storage/http/http_sockets.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"

namespace stoker {
namespace {

constexpr std::size_t kEventsAtOnce = 64;  // more are for the next round

CURLM* make_multi() {
  static const CURLcode global = ::curl_global_init(CURL_GLOBAL_DEFAULT);
  if (global != CURLE_OK) fail(ErrorKind::kIo, "libcurl does not work: {}", ::curl_easy_strerror(global));
  CURLM* const multi = ::curl_multi_init();
  if (multi == nullptr) fail(ErrorKind::kMemory, "libcurl cannot make a multi handle");
  return multi;
}

int action_of(std::uint32_t events) {
  int action = 0;
  if (events & (EPOLLIN | EPOLLHUP)) action |= CURL_CSELECT_IN;
  if (events & EPOLLOUT) action |= CURL_CSELECT_OUT;
  if (events & EPOLLERR) action |= CURL_CSELECT_ERR;
  return action;
}

}  // namespace

HttpSockets::HttpSockets()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_up_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), multi_(make_multi()) {
  if (!epoll_ || !wake_up_) fail_system("wait for", "the network", errno);
  watch(wake_up_.get(), EPOLLIN);
  ::curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &socket_changed);
  ::curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
  ::curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &timer_changed);
  ::curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
}

void HttpSockets::wake() const {
  const std::uint64_t one = 1;
  while (::write(wake_up_.get(), &one, sizeof one) < 0 && errno == EINTR) continue;
}

void HttpSockets::watch(int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0) return;
  // Without memory the socket is not heard of, and its transfer stalls and is repeated.
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

int HttpSockets::socket_changed(CURL* /*handle*/, curl_socket_t socket, int what, void* sockets,
                                void* /*known*/) noexcept {
  auto& self = *static_cast<HttpSockets*>(sockets);
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(self.epoll_.get(), EPOLL_CTL_DEL, socket, nullptr);  // fails for one that was closed, as it should
    return 0;
  }
  std::uint32_t events = 0;
  if (what & CURL_POLL_IN) events |= EPOLLIN;
  if (what & CURL_POLL_OUT) events |= EPOLLOUT;
  self.watch(socket, events);
  return 0;
}

int HttpSockets::timer_changed(CURLM* /*multi*/, long wait_ms, void* sockets) noexcept {
  auto& self = *static_cast<HttpSockets*>(sockets);
  self.has_timer_ = wait_ms >= 0;
  self.timer_ns_ = now_ns() + std::int64_t{wait_ms} * 1'000'000;
  return 0;
}

int HttpSockets::wait_at_most(int wait_ms) const {
  if (!has_timer_) return wait_ms;
  const std::int64_t left_ms = (timer_ns_ - now_ns() + 999'999) / 1'000'000;
  return static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, wait_ms));
}

void HttpSockets::run(int wait_ms) {
  std::array<epoll_event, kEventsAtOnce> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_at_most(wait_ms));
  int running = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == wake_up_.get()) {
      std::uint64_t wakes;
      while (::read(wake_up_.get(), &wakes, sizeof wakes) < 0 && errno == EINTR) continue;
    } else {
      ::curl_multi_socket_action(multi_.get(), event.data.fd, action_of(event.events), &running);
    }
  }
  if (has_timer_ && now_ns() >= timer_ns_) {
    has_timer_ = false;
    ::curl_multi_socket_action(multi_.get(), CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

}  // namespace stoker
