// Counts what is under way on other threads, for one thread that waits until all of it has ended.
#pragma once

#include <condition_variable>
#include <mutex>

namespace stoker {

class Pending {
 public:
  Pending() = default;
  /// Waits for what is under way.
  ~Pending() { wait(); }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  void begin() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void end() noexcept {
    // Told under the lock: once it is free this may be gone.
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) ended_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  int count_ = 0;
};

}  // namespace stoker
