// Ctrl-C and SIGTERM. They are taken by a thread of ours instead of a signal handler, so that stopping may lock, notify
// and allocate like any other code.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace stoker {

/// One per program, made before any other thread is. It also has SIGPIPE and SIGXFSZ ignored: a write then fails with
/// EPIPE, or with EFBIG where the file would grow past what `ulimit -f` allows.
class Interrupts {
 public:
  /// Throws std::system_error where the machine has no descriptor or thread for it.
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// While one lives, the first signal calls `stop` (on the watcher's thread) and leaves it to the program to end;
  /// without one, or at a second signal, the process ends at once: there is nothing to tidy up.
  class Scope {
   public:
    Scope(Interrupts& interrupts, std::function<void()> stop);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Interrupts& interrupts_;
  };

  bool raised() const { return raised_; }
  /// Turns true with the first signal.
  const std::atomic<bool>& flag() const { return raised_; }

  /// Returns once base/clock.h has reached the deadline; throws kClosed as soon as a signal came.
  void wait_until(std::int64_t deadline_ns);

 private:
  void watch();
  void raise();

  int signals_ = -1, closing_ = -1;  // a signalfd, and an eventfd that ends the watcher
  std::atomic<bool> raised_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> stop_;  // guarded by mutex_
  std::thread watcher_;
};

}  // namespace stoker
