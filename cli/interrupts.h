// Handles Ctrl-C and SIGTERM. A thread takes the signals instead of a signal handler, so that stopping may lock, notify
// and allocate like any other code.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace stoker {

/// One per program, made before any other thread. It also ignores SIGPIPE and SIGXFSZ: a write then fails with EPIPE,
/// or with EFBIG if the file would exceed the limit of `ulimit -f`.
class Interrupts {
 public:
  /// Throws std::system_error if the machine has no descriptor or thread for it.
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// While a scope exists, the first signal calls `stop` (on the watcher's thread), and the program ends by itself;
  /// without a scope, or at a second signal, the process ends immediately, and only unfinished files are removed.
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
  /// Becomes true with the first signal.
  const std::atomic<bool>& flag() const { return raised_; }

  /// Returns when the clock of base/clock.h reaches the deadline; throws kClosed as soon as a signal comes.
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
