// The sockets of libcurl's transfers, watched by epoll: what happens at one costs nothing for the others, however many
// there are.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <memory>

#include "stoker/storage/posix_file.h"

namespace stoker {

/// Threads: one, but for wake().
class HttpSockets {
 public:
  /// Throws kMemory or kIo.
  HttpSockets();
  HttpSockets(const HttpSockets&) = delete;
  HttpSockets& operator=(const HttpSockets&) = delete;

  CURLM* multi() const { return multi_.get(); }
  /// Waits, for `wait_ms` at most, until something can be done, and has libcurl do it. Returns early when woken.
  void run(int wait_ms);
  /// Ends the wait, the next one if none is under way. Threads: any.
  void wake() const;

 private:
  static int socket_changed(CURL* handle, curl_socket_t socket, int what, void* sockets, void* known) noexcept;
  static int timer_changed(CURLM* multi, long wait_ms, void* sockets) noexcept;
  void watch(int fd, std::uint32_t events);
  int wait_at_most(int wait_ms) const;

  struct FreeMulti {
    void operator()(CURLM* multi) const { ::curl_multi_cleanup(multi); }
  };

  const FileDescriptor epoll_, wake_up_;
  bool has_timer_ = false;
  std::int64_t timer_ns_ = 0;
  const std::unique_ptr<CURLM, FreeMulti> multi_;  // first to go: it tells of the sockets that it closes
};

}  // namespace stoker
